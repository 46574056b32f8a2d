//! The waits of the test kit: woken by what they wait for, at any depth of the tree.

use std::time::Duration;

use ractor_otp::testing::{await_no_process, await_process, await_tree};
use ractor_otp::{DynamicOptions, DynamicSupervisor, Parent, assert_tree};

async fn root() -> DynamicSupervisor {
    DynamicSupervisor::start(Parent::none(), "root", DynamicOptions::default()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_process_that_starts_later_and_deeper_is_found_when_it_is_there() {
    let root = root().await;
    let later = {
        let root = root.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(100)).await;
            let options = DynamicOptions::default();
            let middle = root.start_supervisor("middle".to_owned(), options).await.unwrap();
            tokio::time::sleep(Duration::from_secs(100)).await;
            let options = DynamicOptions::default();
            middle.start_supervisor("inner 1".to_owned(), options).await.unwrap()
        })
    };
    let found = await_process(root.pid(), "inner").await.unwrap();
    assert_eq!(found.label().to_string(), "inner 1");
    assert_tree!(root.pid().tree(), "root\n└─ middle\n   └─ inner 1");
    later.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_end_deep_below_wakes_who_waits_for_the_tree() {
    let root = root().await;
    let middle = root.start_supervisor("middle".to_owned(), DynamicOptions::default());
    let middle = middle.await.unwrap();
    let inner = middle.start_supervisor("inner".to_owned(), DynamicOptions::default());
    let inner = inner.await.unwrap();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(100)).await;
        inner.pid().kill();
    });
    await_tree(root.pid(), "root\n└─ middle").await.unwrap();
    await_no_process(root.pid(), "inner").await.unwrap();
}
