//! A thermometer as a resource: it goes up and down by itself, one degree a second.

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::prelude::*;
use tokio::sync::watch;

pub const URI: &str = "room://kitchen/temperature";

#[derive(Clone)]
pub struct Thermometer(Arc<watch::Sender<i32>>);

impl Thermometer {
    pub fn start() -> Self {
        let thermometer = Self(Arc::new(watch::Sender::new(20)));
        let room = thermometer.clone();
        tokio::spawn(async move {
            let day = (20..30).chain((20..30).rev()).cycle();
            let mut seconds = tokio::time::interval(Duration::from_secs(1));
            for degrees in day {
                seconds.tick().await;
                room.0.send_replace(degrees);
            }
        });
        thermometer
    }

    /// Tells each change.
    pub fn changes(&self) -> watch::Receiver<i32> {
        self.0.subscribe()
    }

    /// A server that reads it.
    pub fn suite(&self) -> Suite {
        let room = self.0.subscribe();
        let read = move || {
            let degrees = *room.borrow();
            async move { format!("{degrees} degrees") }
        };
        Suite::new("thermometer", "1.0.0").resource(URI, resource(read).mime_type("text/plain"))
    }
}
