//! What a function takes and returns, read off before anything is asked of it.
//!
//! A registration asks for two things: for a [`Signature`], which fits one shape of function only, and then for
//! `IntoTool`, `IntoResource` or `IntoPrompt` of that shape. Asked for the second alone, the compiler could say no more of
//! a function than that none of the shapes fits; knowing the shape, it names the part that does not.

use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Blocking, Call, PromptSpec, ResourceSpec, Struct, Tool, ToolSpec};

/// The shape of what is registered, as its `Kind`: that of a function with at most two arguments, a struct that
/// implements [`Tool`], or one of these with options. It asks nothing of the types in it: [`IntoTool`](super::IntoTool),
/// [`IntoResource`](super::IntoResource) and [`IntoPrompt`](super::IntoPrompt) do.
pub trait Signature<Kind> {}

impl<F, Fut, Out> Signature<fn() -> Out> for F
where
    F: Fn() -> Fut,
    Fut: Future<Output = Out>,
{
}

impl<F, Fut, A, Out> Signature<fn(A) -> Out> for F
where
    F: Fn(A) -> Fut,
    Fut: Future<Output = Out>,
{
}

impl<F, Fut, A, B, Out> Signature<fn(A, B) -> Out> for F
where
    F: Fn(A, B) -> Fut,
    Fut: Future<Output = Out>,
{
}

impl<F: Fn() -> Out, Out> Signature<Blocking<fn() -> Out>> for Blocking<F> {}

impl<F: Fn(A) -> Out, A, Out> Signature<Blocking<fn(A) -> Out>> for Blocking<F> {}

impl<F: Fn(A, B) -> Out, A, B, Out> Signature<Blocking<fn(A, B) -> Out>> for Blocking<F> {}

impl<T: Tool> Signature<Struct> for T {}

impl Signature<Self> for ToolSpec {}

impl Signature<Self> for ResourceSpec {}

impl Signature<Self> for PromptSpec {}

/// What a tool or a prompt can take as its arguments: any type that implements `serde::Deserialize` and
/// `schemars::JsonSchema`, owns what it holds and is `Send`.
pub trait FromArguments: DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: FromJson + HasSchema + Send + 'static> FromArguments for T {}

/// `serde::Deserialize`, by a name for which the compiler says what to do. What [`FromArguments`] asks for comes from two such
/// traits, so that it says which of them is missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool or a prompt",
    label = "`{Self}` lacks `serde::Deserialize`",
    note = "the arguments are one struct, taken by value, with `#[derive(serde::Deserialize, schemars::JsonSchema)]`;",
    note = "a function that takes the `Call` alone is written `(_: NoArguments, call: Call)`"
)]
pub trait FromJson: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromJson for T {}

/// `schemars::JsonSchema`, by a name for which the compiler says what to do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool or a prompt",
    label = "`{Self}` lacks `schemars::JsonSchema`",
    note = "the arguments are one struct, taken by value, with `#[derive(serde::Deserialize, schemars::JsonSchema)]`;",
    note = "a function that takes the `Call` alone is written `(_: NoArguments, call: Call)`"
)]
pub trait HasSchema: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> HasSchema for T {}

/// What stands in the place of the [`Call`] in a function that wants it: a [`Call`], and nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in the place of the `Call`",
    label = "it takes a `{Self}` where only a `Call` can be",
    note = "a tool or a prompt takes its arguments first, all of them in one struct, and behind them the `Call` if it wants it;",
    note = "a resource takes nothing else than the `Call`"
)]
pub trait FromCall {
    /// The call as the function takes it.
    fn from_call(call: Call) -> Self;
}

impl FromCall for Call {
    fn from_call(call: Call) -> Self {
        call
    }
}
