//! The future holds an `Rc` across an `.await`.

use std::rc::Rc;

use ractor_mcp::prelude::*;

async fn wait(_: NoArguments) -> String {
    let shared = Rc::new("text");
    std::future::ready(()).await;
    shared.to_string()
}

fn main() {
    let _ = Suite::new("waits", "1.0.0").tool("wait", wait);
}
