//! See [`sealed_tokens`](ractor_mcp::fuzzing::sealed_tokens).
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ractor_mcp::fuzzing::sealed_tokens(bytes));
