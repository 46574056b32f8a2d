//! A process that does what it is told and writes down what happens to it.
#![allow(dead_code, unreachable_pub)]

use std::time::Duration;

use ractor_otp::{Crash, ExitReason, Me, Next, Process};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Where processes write.
pub type Log = mpsc::UnboundedSender<String>;

/// What they wrote.
pub struct Book(mpsc::UnboundedReceiver<String>);

pub fn book() -> (Log, Book) {
    let (log, lines) = mpsc::unbounded_channel();
    (log, Book(lines))
}

impl Book {
    /// The next line; a test that waits in vain fails.
    pub async fn next(&mut self) -> String {
        let line = timeout(Duration::from_secs(30), self.0.recv()).await;
        line.expect("nothing more is written").expect("nobody writes any more")
    }

    pub async fn expect(&mut self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.next().await, *line);
        }
    }

    /// The lines written by now.
    pub fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}

/// Writes a line when it is dropped.
pub struct OnDrop(pub &'static str, pub Log);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.1.send(self.0.to_owned());
    }
}

/// Panics when it is dropped.
pub struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb went off");
    }
}

/// What a probe runs for a test.
pub type Work = Box<dyn FnOnce(&Me<Do>) + Send>;

/// What a probe is told to do.
pub enum Do {
    /// Write this down.
    Note(&'static str),
    /// Stop with this reason.
    Stop(ExitReason),
    /// Panic with this text.
    Panic(&'static str),
    /// Wait for ever, writing when it starts and when it is interrupted.
    Hang,
    /// Wait for ever with a bomb in the future.
    HangWithBomb,
    /// Wait for this signal.
    Wait(oneshot::Receiver<()>),
    /// Wait for this signal uninterrupted, then for ever.
    Shielded(oneshot::Receiver<()>),
    /// Block the thread until the other side speaks or is gone.
    Block(std::sync::mpsc::Receiver<()>),
    /// Run this.
    Run(Work),
}

impl Do {
    pub fn run(work: impl FnOnce(&Me<Do>) + Send + 'static) -> Self {
        Self::Run(Box::new(work))
    }
}

/// How a callback of a probe goes.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Well,
    Error,
    Panic,
    Hang,
}

/// The name of a probe, and where it writes. Its last line is that it is dropped.
pub struct Diary(&'static str, Log);

impl Diary {
    fn write(&self, what: &str) {
        let _ = self.1.send(format!("{} {what}", self.0));
    }
}

impl Drop for Diary {
    fn drop(&mut self) {
        self.write("dropped");
    }
}

/// The process.
pub struct Probe {
    pub diary: Diary,
    pub init: Way,
    pub terminate: Way,
    pub bomb: Option<Bomb>,
}

impl Probe {
    pub fn new(name: &'static str, log: &Log) -> Self {
        Self { diary: Diary(name, log.clone()), init: Way::Well, terminate: Way::Well, bomb: None }
    }

    fn write(&self, what: &str) {
        self.diary.write(what);
    }

    async fn go(&self, what: &str, way: Way) -> Result<(), Crash> {
        match way {
            Way::Well => Ok(()),
            Way::Error => Err(Crash::error(format!("{what} failed"))),
            Way::Panic => panic!("{what} panicked"),
            Way::Hang => std::future::pending().await,
        }
    }
}

impl Process for Probe {
    type Message = Do;

    async fn init(&mut self, _: &Me<Do>) -> Result<(), Crash> {
        self.write("init");
        self.go("init", self.init).await
    }

    async fn handle(&mut self, message: Do, me: &Me<Do>) -> Next {
        match message {
            Do::Note(text) => self.write(text),
            Do::Stop(reason) => return Next::Stop(reason),
            Do::Panic(text) => panic!("{text}"),
            Do::Hang => {
                self.write("hangs");
                let _cut = OnDrop("interrupted", self.diary.1.clone());
                std::future::pending().await
            }
            Do::HangWithBomb => {
                self.write("hangs");
                let _bomb = Bomb;
                std::future::pending().await
            }
            Do::Wait(signal) => {
                self.write("waits");
                let _ = signal.await;
            }
            Do::Shielded(signal) => {
                self.write("shielded");
                let _ = me.uninterrupted(signal).await;
                self.write("unshielded");
                std::future::pending().await
            }
            Do::Block(signal) => {
                self.write("blocks");
                let _ = signal.recv();
            }
            Do::Run(work) => work(me),
        }
        Next::Receive
    }

    async fn terminate(&mut self, reason: &ExitReason, _: &Me<Do>) {
        self.write(&format!("terminate {reason}"));
        let _ = self.go("terminate", self.terminate).await;
    }
}
