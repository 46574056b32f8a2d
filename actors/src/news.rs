//! Waking whoever waits for something about a process.
//!
//! Most processes live and end without anybody waiting for anything about them, so telling costs next to nothing until
//! somebody has listened once.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

#[derive(Default)]
pub(crate) struct News {
    listened_to: AtomicBool,
    notify: Notify,
}

impl News {
    /// Wakes all who listen. What they look for has changed before.
    pub(crate) fn tell(&self) {
        // Pairs with the fence of whoever listens: either they are seen here, or they see the change.
        fence(Ordering::SeqCst);
        if self.listened_to.load(Ordering::Relaxed) {
            self.notify.notify_waiters();
        }
    }

    /// Listens from the moment when the future is enabled or polled; what happened before is to be looked at then.
    pub(crate) fn listen(&self) -> Notified<'_> {
        self.listened_to.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.notify.notified()
    }

    /// Waits until `found` finds something; it is asked again after every piece of news.
    pub(crate) async fn until<T>(&self, found: impl Fn() -> Option<T>) -> T {
        loop {
            let mut news = pin!(self.listen());
            // Listen first and look second: what happens in between must not be missed.
            news.as_mut().enable();
            if let Some(it) = found() {
                return it;
            }
            news.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_who_looks_after_listening_misses_what_is_told() {
        for _ in 0..2_000 {
            let shared = Arc::new((News::default(), AtomicU32::new(0)));
            let told = Arc::clone(&shared);
            let teller = tokio::spawn(async move {
                told.1.store(1, Ordering::Relaxed);
                told.0.tell();
            });
            let (news, value) = &*shared;
            news.until(|| (value.load(Ordering::Relaxed) == 1).then_some(())).await;
            teller.await.unwrap();
        }
    }

    #[tokio::test]
    async fn all_who_listen_are_woken() {
        let news = News::default();
        let (mut first, mut second) = (pin!(news.listen()), pin!(news.listen()));
        first.as_mut().enable();
        second.as_mut().enable();
        news.tell();
        tokio::join!(first, second);
    }
}
