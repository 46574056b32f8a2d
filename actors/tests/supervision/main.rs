//! Supervisors: order, restarts, caps, drains, and what happens to a tree when a part of it ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod dynamic;
mod foreign;
mod isolation;
mod observe;
mod order;
mod restart;
mod waits;
mod zombie;

use ractor_otp::{ChildSpec, Parent, Supervisor, SupervisorOptions};

use common::{Log, Probe};

/// A permanent leaf that writes to the log.
fn probe(name: &'static str, log: &Log) -> ChildSpec {
    let log = log.clone();
    ChildSpec::process(name, move || Probe::new(name, &log))
}

async fn root(children: Vec<ChildSpec>) -> Supervisor {
    Supervisor::start(Parent::none(), "root", SupervisorOptions::default(), children).await.unwrap()
}

/// The child of a supervisor with this label.
fn child(supervisor: &ractor_otp::Pid, label: &str) -> ractor_otp::Pid {
    let mut children = supervisor.children().into_iter();
    children.find(|child| child.label().to_string() == label).expect("there is such a child")
}
