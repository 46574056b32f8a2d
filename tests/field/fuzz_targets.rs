//! The fuzz targets without a fuzzer: each committed seed, and mutations of them. What has to hold is said in
//! `src/fuzzing/`.

use proptest::test_runner::{Config, TestCaseError, TestRunner};
use ractor_mcp::fuzzing;

use crate::mutation::{mutated, seeds};

/// Runs one target over its seeds and over some mutations of them. A failure shows the bytes, for a seed of its own.
fn check(name: &str, target: fn(&[u8]), mutations: u32) {
    let seeds = seeds(name);
    assert!(seeds.len() >= 5, "{name} has few seeds");
    for seed in seeds {
        holds(target, &seed).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
    let config = Config { cases: mutations, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(&mutated(name), |bytes| holds(target, &bytes));
    if let Err(fault) = checked {
        panic!("{name}: {fault}");
    }
}

fn holds(target: fn(&[u8]), bytes: &[u8]) -> Result<(), TestCaseError> {
    std::panic::catch_unwind(|| target(bytes)).map_err(|_| {
        let shown = bytes.escape_ascii();
        TestCaseError::fail(format!("does not hold for b\"{shown}\""))
    })
}

#[test]
fn json_rpc_intake() {
    check("json_rpc_intake", fuzzing::json_rpc_intake, 5_000);
}

#[test]
fn header_values() {
    check("header_values", fuzzing::header_values, 500);
}

#[test]
fn http_intake() {
    check("http_intake", fuzzing::http_intake, 500);
}

#[test]
fn uri_templates() {
    check("uri_templates", fuzzing::uri_templates, 5_000);
}

#[test]
fn sealed_tokens() {
    check("sealed_tokens", fuzzing::sealed_tokens, 1_000);
}
