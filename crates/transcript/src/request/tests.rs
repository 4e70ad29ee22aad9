use std::io::Write;

use super::*;

// Hashes worked out with Python:
// hashlib.sha256(json.dumps(x, separators=(',', ':'), sort_keys=True).encode()).hexdigest()
const HELLO: &str = "605b2cd3bceaf2d08e7ba22785ed603b5cce260a16f3215a2b9751da809810e2";
const SYSTEM: &str = "cad8e1bc28dbbb65489dc0ff77db5825a73b138966503b6357175434b655aa0a";
const ANSWER: &str = "a993d9e7468c4f201a7bf0cb34663f45eb5e03744e1ea3d9474fd0b2c58bc0ad";
const RESULTS: &str = "f22fae7dc93eb39b649454c68752005e4fc6e955cae5aa6d68c2bfef693db40e";
const SHAPE: &str = "3f379e36e26d50927859dd2f9edb54548202936744d1cc3ff598a017c1a45e37";
const DIGEST: &str = "5a9abd9d4dfee506616b9c818940220f60339af1250c104e7a020ac9f0538fd5";

fn file(lines: &[String]) -> (tempfile::NamedTempFile, Source, RequestLog) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(lines.join("\n").as_bytes()).expect("written");
    let source = Source::open(file.path()).expect("opened");
    let log = RequestLog::of_source(&source).expect("read");
    (file, source, log)
}

fn lines() -> Vec<String> {
    let request = |id: &str, base: &str, keep: usize, tail: &[&str], digest: &str| {
        format!(
            r#"{{"type":"api-request","id":"{id}","querySource":"sdk","shapeHash":"{SHAPE}","params":{{"model":"m","max_tokens":5}},{base}"keep":{keep},"tail":{tail:?},"cacheControl":[{{"path":["system",0],"value":{{"type":"ephemeral"}}}},{{"path":["messages",0,"content",0],"value":{{"type":"ephemeral"}}}}],"requestDigest":"{digest}"}}"#
        )
    };
    vec![
        r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"hello"}}"#.into(),
        format!(r#"{{"type":"api-request-shape","shapeHash":"{SHAPE}","shape":{{"tools":[{{"name":"Dig","input_schema":{{"type":"object"}}}}],"system":[{{"type":"text","text":"You dig."}}]}}}}"#),
        format!(r#"{{"type":"api-request-blob","hash":"{SYSTEM}","message":{{"role":"system","content":"Tuesday","output_config":{{"effort":"low"}}}}}}"#),
        request("r1", "", 0, &[HELLO, SYSTEM], DIGEST),
        r#"{"type":"assistant","uuid":"a1","requestRef":"r1","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Digging."}]}}"#.into(),
        r#"{"type":"attachment","uuid":"x1","attachment":{"type":"date","date":"d"}}"#.into(),
        r#"{"type":"assistant","uuid":"a2","requestRef":"r1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Dig","input":{"to":1.5,"a":[]}}]}}"#.into(),
        r#"{"type":"user","uuid":"u2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"gold"}]}}"#.into(),
        r#"{"type":"user","uuid":"u3","message":{"role":"user","content":"more\n\"é\""}}"#.into(),
        request("r2", r#""base":"r1","#, 2, &[ANSWER, RESULTS], "00"),
    ]
}

fn hex(hash: &str) -> Option<ContentHash> {
    Some(ContentHash::from_hex(hash).expect("a hash"))
}

#[test]
fn a_request_is_found_part_by_part() {
    let (_file, source, log) = file(&lines());
    let chain = log.chain(1);
    assert_eq!(chain.gaps, []);
    assert_eq!(chain.hashes, [hex(HELLO), hex(SYSTEM), hex(ANSWER), hex(RESULTS)]);
    let messages = log.messages(&source, &chain.hashes).expect("read");
    let texts: Vec<_> = messages.iter().map(|m| String::from_utf8_lossy(&m.json)).collect();
    assert_eq!(
        texts,
        [
            r#"{"role":"user","content":[{"type":"text","text":"hello"}]}"#,
            r#"{"role":"system","content":"Tuesday","output_config":{"effort":"low"}}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"Digging."},{"type":"tool_use","id":"t1","name":"Dig","input":{"to":1.5,"a":[]}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"gold"},{"type":"text","text":"more\n\"é\""}]}"#,
        ]
    );
    assert!(messages.iter().all(|message| message.is_verified));
    let joined = |at: usize| match &messages[at].source {
        MessageSource::Entries(spans) => spans.len(),
        _ => 0,
    };
    assert_eq!([0, 1, 2, 3].map(joined), [1, 0, 2, 2]);
}

#[test]
fn the_digest_covers_the_whole_request() {
    let all = lines();
    let (_file, source, log) = file(&all);
    let messages = log.messages(&source, &log.chain(0).hashes).expect("read");
    let bodies: Vec<&[u8]> = messages.iter().map(|m| &*m.json).collect();
    let line = Raw::new(all[3].as_bytes()).expect("JSON");
    let shape_line = Raw::new(all[1].as_bytes()).expect("JSON");
    let shape = shape_line.get("shape").expect("a shape");
    assert_eq!(Some(canonical::shape_hash(shape)), hex(SHAPE));
    let params = line.get("params").expect("parameters");
    let parts: Vec<(String, Raw<'_>)> =
        params.fields().chain(shape.fields()).map(|(k, v)| (k.text().into_owned(), v)).collect();
    let parts: Vec<(&str, Raw<'_>)> = parts.iter().map(|(k, v)| (k.as_str(), *v)).collect();
    let marks: Vec<_> = line.get("cacheControl").expect("marks").items().collect();
    let marks: Vec<_> = marks.into_iter().filter_map(canonical::CacheMark::of_raw).collect();
    assert_eq!(canonical::request_digest(&parts, &bodies, &marks), hex(DIGEST));
    assert_ne!(canonical::request_digest(&parts, &bodies[..1], &marks), hex(DIGEST));
    assert_ne!(canonical::request_digest(&parts, &bodies, &marks[..1]), hex(DIGEST));
}

#[test]
fn what_is_missing_is_said() {
    let mut all = lines();
    all.remove(2);
    all[2] = all[2].replace("\"keep\":0", "\"base\":\"r0\",\"keep\":3");
    let (_file, source, log) = file(&all);
    let chain = log.chain(1);
    let no_base = ChainGap::NoBase { id: "r0".into(), messages: 3 };
    assert_eq!(chain.gaps, [no_base]);
    assert_eq!(chain.hashes[..2], [None, None]);
    let messages = log.messages(&source, &log.chain(0).hashes).expect("read");
    let is_missing = |m: &RequestMessage| m.source == MessageSource::Missing;
    let missing: Vec<bool> = messages.iter().map(is_missing).collect();
    assert_eq!(missing, [true, true, true, false, true]);
}

#[test]
fn circles_and_wild_numbers_end() {
    let line = |id: &str, base: &str, keep: &str| {
        format!(
            r#"{{"type":"api-request","id":"{id}","base":"{base}","keep":{keep},"tail":["zz"]}}"#
        )
    };
    let all = [
        line("a", "b", "1"),
        line("b", "a", "18446744073709551615"),
        line("c", "c", "7"),
        line("d", "gone", "18446744073709551615"),
    ];
    let (_file, _source, log) = file(&all);
    assert!(matches!(log.chain(0).gaps[0], ChainGap::Circle { .. }));
    assert!(matches!(log.chain(2).gaps[0], ChainGap::Circle { .. }));
    assert!(log.chain(3).hashes.len() <= (1 << 16) + 1);
    // What is not a hash is not a message that can be found.
    assert_eq!(log.chain(2).hashes.last(), Some(&None));
}

#[test]
fn planted_requests_are_found() {
    let dir = tempfile::tempdir().expect("a folder");
    let spec = testkit::Spec { seed: 7, shape: testkit::Shape::Hard, bytes: 0 };
    testkit::make(&spec, dir.path()).expect("made");
    let mut planted = 0;
    for found in crate::layout::walk_projects(dir.path()).files {
        let source = Source::open(&found.path).expect("opened");
        let log = RequestLog::of_source(&source).expect("read");
        if log.requests().is_empty() {
            continue;
        }
        planted += 1;
        for whole in [0, 1] {
            let chain = log.chain(whole);
            assert_eq!((chain.gaps.len(), chain.hashes.len()), (0, 2 + 2 * whole));
            let messages = log.messages(&source, &chain.hashes).expect("read");
            assert!(messages.iter().all(|message| message.is_verified), "{messages:?}");
            assert!(log.shape(whole).is_some());
        }
        let chain = log.chain(2);
        assert!(matches!(chain.gaps[..], [ChainGap::NoBase { messages: 5, .. }]));
        let messages = log.messages(&source, &chain.hashes).expect("read");
        let found: Vec<bool> = messages.iter().map(|message| message.is_verified).collect();
        assert_eq!(found, [false, false, false, false, false, true, false]);
    }
    assert_eq!(planted, 1);
}
