//! Floor 0: the JSON as the specification spells it. Types with constructors, no behaviour.
//!
//! | file | holds |
//! |---|---|
//! | `version.rs`, `keys.rs` | the revision, and the reserved `_meta` keys |
//! | `id.rs`, `token.rs` | request ids and progress tokens, echoed exactly as they came |
//! | `meta.rs`, `request_meta.rs` | `_meta` of what we write, and of requests |
//! | `implementation.rs`, `annotations.rs`, `cache.rs`, `log.rs` | what several messages share |
//! | `capabilities.rs`, `discover.rs` | capabilities of both sides, `server/discover` |
//! | `content.rs` | content blocks and resource contents |
//! | `tools.rs`, `resources.rs`, `prompts.rs`, `completion.rs`, `subscriptions.rs` | one feature each |
//! | `input.rs` | what a server may ask of the client (multi round-trip requests) |
//! | `request.rs`, `result.rs`, `notification.rs` | all requests, all results, all notifications |
//! | `error.rs`, `envelope.rs` | JSON-RPC errors, and the JSON-RPC frame around everything |

/// Chained setters for optional members.
macro_rules! optional {
    ($type:ident { $($(#[$doc:meta])* $field:ident: $value:ty),* $(,)? }) => {
        impl $type {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, value: impl Into<$value>) -> Self {
                    self.$field = Some(value.into());
                    self
                }
            )*
        }
    };
}

/// Chained setters for what everything has that a server lists.
macro_rules! described {
    ($type:ident) => {
        impl $type {
            /// Adds a picture of it.
            #[must_use]
            pub fn icon(mut self, icon: Icon) -> Self {
                self.icons.push(icon);
                self
            }

            /// Sets its `_meta`.
            #[must_use]
            pub fn meta(mut self, meta: Meta) -> Self {
                self.meta = meta;
                self
            }
        }
    };
}

mod annotations;
mod cache;
mod capabilities;
mod completion;
mod content;
mod discover;
mod envelope;
mod error;
mod id;
mod implementation;
mod input;
pub mod keys;
mod log;
mod meta;
mod mirrored;
mod notification;
mod prompts;
mod request;
mod request_meta;
mod resources;
mod result;
mod subscriptions;
mod token;
mod tools;
mod version;

pub use annotations::{Annotations, Role, ToolAnnotations};
pub use cache::{CacheHints, CacheScope};
pub use capabilities::{ClientCapabilities, Empty, Listed, ListedResources, ServerCapabilities};
pub use completion::{CompleteRequest, CompleteResult, Completion, CompletionRef};
pub use content::{
    AudioContent, Content, EmbeddedResource, ImageContent, ResourceContents, ResourceLink, TextContent,
};
pub use discover::DiscoverResult;
pub(crate) use envelope::{ErrorResponse, NotificationMessage, Response};
pub use error::ErrorObject;
pub use id::RequestId;
pub use implementation::{Icon, Implementation, Theme};
pub use input::{
    CreateMessageRequest, CreateMessageResult, ElicitAction, ElicitRequest, ElicitResult, InputRequest,
    InputRequiredResult, ListRootsResult, Root, SamplingMessage,
};
pub use log::LogLevel;
pub use meta::Meta;
pub use mirrored::MirroredParams;
pub use notification::{Notification, ServerNotification};
pub use prompts::{
    GetPromptRequest, GetPromptResult, ListPromptsRequest, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage,
};
pub use request::Request;
pub use request_meta::RequestMeta;
pub use resources::{
    ListResourceTemplatesRequest, ListResourceTemplatesResult, ListResourcesRequest, ListResourcesResult,
    ReadResourceRequest, ReadResourceResult, Resource, ResourceTemplate,
};
pub use result::{Complete, CustomResult, ResultBody};
pub use subscriptions::{ListenRequest, ListenResult, SubscriptionFilter};
pub use token::ProgressToken;
pub use tools::{CallToolRequest, CallToolResult, ListToolsRequest, ListToolsResult, Tool, ToolList};
pub use version::{PROTOCOL_VERSION, SUPPORTED_VERSIONS};
