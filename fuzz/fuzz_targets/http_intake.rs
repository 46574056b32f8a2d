//! See [`http_intake`](ractor_mcp::fuzzing::http_intake).
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ractor_mcp::fuzzing::http_intake(bytes));
