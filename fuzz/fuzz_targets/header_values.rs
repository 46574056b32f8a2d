//! See [`header_values`](ractor_mcp::fuzzing::header_values).
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ractor_mcp::fuzzing::header_values(bytes));
