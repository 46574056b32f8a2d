//! The usual mistakes, and what the compiler says of them (N2). The texts change with the compiler, so they are held
//! against the expected ones only with `CI` in the environment, as `.ci/run` sets it.

#[test]
fn n2_the_compiler_says_what_a_tool_must_look_like() {
    if std::env::var_os("CI").is_some() {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    }
}
