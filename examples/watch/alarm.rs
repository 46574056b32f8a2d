//! A subscription handler: each stream follows the thermometer by itself, and tells only what its client should look at.

use ractor_mcp::otp::ExitReason;
use ractor_mcp::prelude::*;
use ractor_mcp::suite::{
    Accept, Subscription, SubscriptionCapabilities, SubscriptionHandler, SubscriptionReply,
};
use ractor_mcp::wire::SubscriptionFilter;

use super::thermometer::{Thermometer, URI};

const TOO_HOT: i32 = 25;

struct Alarm(Thermometer);

enum Reading {
    Degrees(i32),
    Broken,
}

impl SubscriptionHandler for Alarm {
    /// Whether it was too hot at the last reading.
    type State = bool;
    type Message = Reading;

    async fn subscribe(
        &self,
        _: SubscriptionFilter,
        subscription: &Subscription<Reading>,
    ) -> Result<Accept<bool>, RpcError> {
        let (stream, mut changes) = (subscription.address(), self.0.changes());
        let hot = *changes.borrow() > TOO_HOT;
        // The task belongs to the stream and ends with it.
        subscription.spawn_to(
            async move {
                while changes.changed().await.is_ok() {
                    let degrees = *changes.borrow_and_update();
                    let _ = stream.send(Reading::Degrees(degrees)).await;
                }
            },
            |_| Reading::Broken,
        );
        Ok(Accept::Only(SubscriptionFilter::new().resource(URI), hot))
    }

    async fn handle_message(
        &self,
        reading: Reading,
        subscription: &Subscription<Reading>,
        hot: &mut bool,
    ) -> Result<SubscriptionReply, RpcError> {
        let Reading::Degrees(degrees) = reading else {
            return Ok(SubscriptionReply::Stop(ExitReason::Normal));
        };
        if std::mem::replace(hot, degrees > TOO_HOT) != *hot {
            subscription.resource_updated(URI).await?;
        }
        Ok(SubscriptionReply::Stream)
    }

    fn subscription_capabilities(&self) -> SubscriptionCapabilities {
        SubscriptionCapabilities::new().resource_updates()
    }
}

pub async fn start(thermometer: &Thermometer) -> Result<McpSupervisor, ractor_mcp::Error> {
    let suite = thermometer.suite().subscription_handler(Alarm(thermometer.clone()));
    McpSupervisor::start(suite).await
}
