//! Floor 6: entry points for fuzzers, behind the feature `fuzzing`: whatever bytes come in, what is stated holds.
//!
//! Each function takes any bytes, and panics when something does not hold for them. It is no API: it comes and goes
//! without notice. The fuzz targets in `fuzz/` call one function each; `tests/field/fuzz_targets.rs` calls the same ones
//! with the committed seeds and with mutations of them, so that they are checked without a fuzzer too.
//!
//! | function | its bytes are |
//! |---|---|
//! | [`json_rpc_intake`] | the body of one POST |
//! | [`header_values`] | the value of every header that the checks read |
//! | [`http_intake`] | all that a connection receives |
//! | [`uri_templates`] | a template, a line feed, and a URI |
//! | [`sealed_tokens`] | a token, and what a token holds |
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a panic is how a fuzz target tells what it found"
)]

mod headers;
mod http;
mod json_rpc;
mod templates;
mod tokens;

pub use headers::header_values;
pub use http::http_intake;
pub use json_rpc::json_rpc_intake;
pub use templates::uri_templates;
pub use tokens::sealed_tokens;
