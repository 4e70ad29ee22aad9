use proptest::prelude::*;

use super::*;

/// In memory that was used before.
fn decode(
    data: &[u8],
    payload: impl FnMut(&Hash) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, DecodeError> {
    let mut used = Streams { main: vec![1; 50], ids: vec![1; 40], ..Streams::default() };
    super::decode(data, &mut used, vec![7; 70], payload)
}

fn decoded(encoded: &Encoded) -> Result<Vec<u8>, DecodeError> {
    decode(&encoded.data, |hash| {
        let payload = encoded.payloads.iter().find(|p| p.hash == *hash)?;
        decode_payload(&payload.data).ok()
    })
}

/// Lines like those of a transcript.
fn lines(count: u32) -> Vec<u8> {
    let line = |n: u32| {
        format!(
            "{{\"uuid\":\"{n:08x}-1111-4222-8333-0123456789ab\",\"timestamp\":\
             \"2026-01-01T00:00:{:02}.000Z\",\"type\":\"user\"}}\n",
            n % 60
        )
    };
    (0..count).flat_map(|n| line(n).into_bytes()).collect()
}

#[test]
fn a_pack_comes_back_and_is_small() {
    for (raw, most) in [(Vec::new(), 20), (b"x".to_vec(), 20), (lines(10_000), 170_000)] {
        let encoded = encode(&raw, 3, &mut Room::default());
        assert!(encoded.data.len() <= most, "{}", encoded.data.len());
        assert_eq!(decoded(&encoded), Ok(raw.clone()));
        assert_eq!(decode(&encode_plain(&raw, 3, &mut Room::default()), |_| None), Ok(raw));
    }
}

#[test]
fn a_payload_is_kept_once_and_missed() {
    let image: Vec<u8> = (0..5000u32).flat_map(|n| Hash::of(&n.to_le_bytes()).0).collect();
    let text = |byte: u8| {
        let mut text = b"{\"data\":\"".to_vec();
        text.extend(base64_of(&[&[byte][..], &image].concat()));
        text.extend(b"\"}\n");
        text
    };
    let raw = [text(1), text(2), text(1)].concat();
    let encoded = encode(&raw, 3, &mut Room::default());
    assert_eq!(encoded.payloads.len(), 2);
    assert!(encoded.data.len() < 200);
    assert_eq!(payloads_of(&encoded.data).expect("reads").len(), 3);
    assert_eq!(decoded(&encoded), Ok(raw));
    let missing = decode(&encoded.data, |_| None);
    assert_eq!(missing, Err(Broken::Payload(encoded.payloads[0].hash).into()));
}

fn base64_of(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let whole = &bytes[..bytes.len() / 3 * 3];
    let letters = |three: &[u8]| {
        let value = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        [18, 12, 6, 0].map(|shift| ALPHABET[(value >> shift & 63) as usize])
    };
    whole.chunks(3).flat_map(letters).collect()
}

#[test]
fn huge_sizes_are_refused() {
    for data in [&[STRIPPED, 255, 255, 255, 255, 127][..], &[PLAIN, 9, 255, 255, 255, 127, 1, 0]] {
        assert_eq!(decode(data, |_| None), Err(DecodeError::Sizes));
    }
    assert_eq!(decode(&[9, 0], |_| None), Err(DecodeError::Format(9)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_come_back(raw in proptest::collection::vec(any::<u8>(), 0..3000)) {
        prop_assert_eq!(decoded(&encode(&raw, 1, &mut Room::default())), Ok(raw));
    }

    #[test]
    fn garbage_is_refused_or_decoded(
        mut data in proptest::collection::vec(any::<u8>(), 0..200), format in 0..4u8,
    ) {
        data.insert(0, format);
        let _ = decode(&data, |_| None);
        let _ = payloads_of(&data);
        let _ = decode_payload(&data);
    }

    #[test]
    fn a_changed_byte_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut encoded = encode(&lines(50), 1, &mut Room::default());
        let at = at.index(encoded.data.len());
        encoded.data[at] = byte;
        let _ = decoded(&encoded);
    }
}
