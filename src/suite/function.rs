//! Plain functions as tools: each becomes a [`Tool`] without state and messages, so that both go one way.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::marker::PhantomData;

use super::{
    Call, FromArguments, FromCall, NoArguments, Signature, Tool, ToolError, ToolOutput, ToolReply, ToolSpec,
};

/// What can be registered as a tool: an async function `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`, a
/// [`blocking`] function of those shapes, a struct that implements [`Tool`], or a [`ToolSpec`].
///
/// `Args` is a struct that implements `serde::Deserialize` and `schemars::JsonSchema`; its doc comment is the tool's
/// description. `Out` is a [`ToolOutput`]. The `Kind` tells the shapes apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served as a tool",
    label = "not a tool",
    note = "a tool is an `async fn` of the shape `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`;",
    note = "a function that is not async becomes a tool with `blocking(..)`, a struct with `impl Tool`;",
    note = "`Args` is a struct with `#[derive(serde::Deserialize, schemars::JsonSchema)]`, taken by value,",
    note = "or `NoArguments`; `Out` is text, a number, `Json<T>` where `T: Serialize + JsonSchema`, content blocks,",
    note = "or a `Result` of those whose error implements `Display`;",
    note = "its future is `Send`: nothing like `Rc` or a `MutexGuard` may be held across an `.await`"
)]
pub trait IntoTool<Kind>: Signature<Kind> {
    /// The tool with everything that a registration says of it but its name.
    fn into_tool(self) -> ToolSpec;
}

/// Tells structs from functions.
#[derive(Debug)]
pub enum Struct {}

impl<T: Tool> IntoTool<Struct> for T {
    fn into_tool(self) -> ToolSpec {
        ToolSpec::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoTool<ToolSpec> for ToolSpec {
    fn into_tool(self) -> ToolSpec {
        self
    }
}

impl<F, Fut, Args, Out> IntoTool<fn(Args) -> Out> for F
where
    F: Fn(Args) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: FromArguments,
    Out: ToolOutput + 'static,
{
    fn into_tool(self) -> ToolSpec {
        spec(move |args: Args, _: Call| self(args))
    }
}

impl<F, Fut, Args, C, Out> IntoTool<fn(Args, C) -> Out> for F
where
    F: Fn(Args, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    C: FromCall,
    Args: FromArguments,
    Out: ToolOutput + 'static,
{
    fn into_tool(self) -> ToolSpec {
        spec(move |args: Args, call: Call| self(args, C::from_call(call)))
    }
}

impl<F, Fut, Out> IntoTool<fn() -> Out> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Out: ToolOutput + 'static,
{
    fn into_tool(self) -> ToolSpec {
        spec(move |_: NoArguments, _: Call| self())
    }
}

/// A function that is not async, as a tool: it runs on a thread of tokio's blocking pool, where it may compute or wait
/// as long as it likes.
///
/// ```
/// use ractor_mcp::prelude::*;
///
/// /// Counts the primes below a number.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Primes { below: u32 }
///
/// fn primes(Primes { below }: Primes, call: Call) -> Result<usize, ToolError> {
///     let mut found = Vec::new();
///     for n in 2..below {
///         if call.is_closed() {
///             return Err(ToolError::new("nobody waits any more"));
///         }
///         if found.iter().all(|prime| n % prime != 0) {
///             found.push(n);
///         }
///     }
///     Ok(found.len())
/// }
///
/// let suite = Suite::new("numbers", "1.0.0").tool("primes", tool(blocking(primes)).max_concurrent(2));
/// ```
///
/// Nothing can interrupt it: when the client leaves, the server drains or the tool's time is over, the call ends and the
/// function runs on, which is traced as a warning. [`Call::is_closed`] is what it can look at. tokio waits for such
/// threads when a runtime is dropped; `Runtime::shutdown_timeout` or `std::process::exit` leaves them behind.
pub fn blocking<F>(function: F) -> Blocking<F> {
    Blocking(function)
}

/// A function that [`blocking`] made ready to be a tool.
#[derive(Clone, Copy, Debug)]
pub struct Blocking<F>(F);

/// For any type, since the compiler would offer this as what fits if it were for [`Blocking`] alone, whatever is wrong with a
/// function.
impl<F, Kind> IntoTool<Blocking<Kind>> for F
where
    F: Signature<Blocking<Kind>> + Blocks<Kind>,
{
    fn into_tool(self) -> ToolSpec {
        self.into_spec().blocking()
    }
}

/// A function that is not async, of one of the shapes of a tool. As for [`IntoTool`], its `Kind` leaves one of these to be
/// asked for.
pub trait Blocks<Kind> {
    /// The tool, but for the thread that it needs.
    fn into_spec(self) -> ToolSpec;
}

impl<F, Args, Out> Blocks<fn(Args) -> Out> for Blocking<F>
where
    F: Fn(Args) -> Out + Send + Sync + 'static,
    Args: FromArguments,
    Out: ToolOutput + 'static,
{
    fn into_spec(self) -> ToolSpec {
        spec(move |args: Args, _: Call| ready((self.0)(args)))
    }
}

impl<F, Args, C, Out> Blocks<fn(Args, C) -> Out> for Blocking<F>
where
    F: Fn(Args, C) -> Out + Send + Sync + 'static,
    C: FromCall,
    Args: FromArguments,
    Out: ToolOutput + 'static,
{
    fn into_spec(self) -> ToolSpec {
        spec(move |args: Args, call: Call| ready((self.0)(args, C::from_call(call))))
    }
}

impl<F, Out> Blocks<fn() -> Out> for Blocking<F>
where
    F: Fn() -> Out + Send + Sync + 'static,
    Out: ToolOutput + 'static,
{
    fn into_spec(self) -> ToolSpec {
        spec(move |_: NoArguments, _: Call| ready((self.0)()))
    }
}

/// A function with what its types say.
struct Function<F, Args, Out> {
    function: F,
    types: PhantomData<fn(Args) -> Out>,
}

fn spec<F, Fut, Args, Out>(function: F) -> ToolSpec
where
    F: Fn(Args, Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: FromArguments,
    Out: ToolOutput + 'static,
{
    ToolSpec::new(Function { function, types: PhantomData })
}

impl<F, Fut, Args, Out> Tool for Function<F, Args, Out>
where
    F: Fn(Args, Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: FromArguments,
    Out: ToolOutput + 'static,
{
    type Args = Args;
    type Output = Out;
    type State = ();
    type Message = Infallible;

    async fn call(&self, args: Args, call: &Call, (): &mut ()) -> Result<ToolReply<Out>, ToolError> {
        Ok(ToolReply::Answer((self.function)(args, call.clone()).await))
    }
}
