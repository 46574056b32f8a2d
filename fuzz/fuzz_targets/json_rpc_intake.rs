//! See [`json_rpc_intake`](ractor_mcp::fuzzing::json_rpc_intake).
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ractor_mcp::fuzzing::json_rpc_intake(bytes));
