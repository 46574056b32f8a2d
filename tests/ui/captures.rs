//! The closure holds an `Rc`, which cannot go to another thread.

use std::rc::Rc;

use ractor_mcp::prelude::*;

fn main() {
    let shared = Rc::new(7);
    let _ = Suite::new("shares", "1.0.0").tool("shared", move || {
        let value = *shared;
        async move { value }
    });
}
