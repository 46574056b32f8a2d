//! The `_meta` keys that the specification reserves, and the identifiers of its extensions.

/// The protocol revision of a request (META-05).
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Who the client is (META-07).
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the client can do, on this request (META-05).
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The least severe log record that the client wants on this request (LOG-02).
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Who the server is, on every result (META-12).
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The subscription that a notification belongs to (META-14).
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The token that progress of this request is reported with (PROG-01).
pub const PROGRESS_TOKEN: &str = "progressToken";
/// W3C trace context (META-15).
pub const TRACEPARENT: &str = "traceparent";
/// W3C trace context (META-15).
pub const TRACESTATE: &str = "tracestate";
/// W3C baggage (META-15).
pub const BAGGAGE: &str = "baggage";
/// The tasks extension, among the capabilities (TASK-01).
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
