//! See [`uri_templates`](ractor_mcp::fuzzing::uri_templates).
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ractor_mcp::fuzzing::uri_templates(bytes));
