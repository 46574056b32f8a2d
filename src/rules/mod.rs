//! Floor 1: the rules of the protocol, one a file, as pure functions. The clause is on the first line of each file;
//! `clauses.md`, at the top of the repository, says what it demands.
//!
//! | clause | file |
//! |---|---|
//! | A-11: the order of checks | `order.rs` |
//! | BASE-12 to BASE-20, HTTP-13: codes and statuses | `errors.rs` |
//! | BASE-01, BASE-04, SSE-12: what is written | `frame.rs` |
//! | BASE-02, E8, E9, E11: strict JSON | `json.rs` |
//! | BASE-28: members known and unknown | `members.rs` |
//! | BASE-01, BASE-06, BASE-16, BASE-24: the JSON-RPC message | `message.rs` |
//! | BASE-16, DISC-06, VER-16, HTTP-12: methods | `methods.rs` |
//! | META-01, META-02, META-04, VER-11: keys of `_meta` | `meta_key.rs` |
//! | META-05 to META-08, LOG-05, PROG-03: `_meta` of a request | `request_meta.rs` |
//! | META-15: trace context | `trace_context.rs` |
//! | HTTP-02, HTTP-03: `Origin` | `origin.rs` |
//! | HTTP-22: `Host` | `host.rs` |
//! | HTTP-07, HTTP-08: `Accept` | `accept.rs` |
//! | HTTP-20: the size of the head | `head_size.rs` |
//! | A-39: `Content-Type` | `content_type.rs` |
//! | E16: `Content-Encoding`, `Transfer-Encoding` | `content_coding.rs` |
//! | HDR-01, HTTP-18, VER-02: `MCP-Protocol-Version` | `protocol_version.rs` |
//! | HDR-02, HDR-06, HDR-07: `Mcp-Method` | `mcp_method.rs` |
//! | HDR-03, HDR-09, HDR-10: `Mcp-Name` | `mcp_name.rs` |
//! | HDR-05, HDR-09 to HDR-13: header values | `header_value.rs` |
//! | XHDR-02 to XHDR-22: `x-mcp-header`, `Mcp-Param-*` | `x_mcp_header.rs` |
//! | TOOL-12, CMP-02, SUB-01, PAGE-01: parameters | `params.rs` |
//! | AUTH-06, AUTH-07, AUTH-15 to AUTH-17: challenges | `challenge.rs` |
//! | F7, F8: browsers of other origins | `cors.rs` |
//! | TOOL-09: tool names | `tool_name.rs` |
//! | PROG-04: progress | `progress.rs` |
//! | PROG-08, LOG-07: how often something is reported | `rate.rs` |
//! | SUB-02, SUB-06, SUB-12, TASK-28: what a stream is told | `subscription.rs` |
//! | SSE-02, LOG-02, PROG-01, PROG-04, CANC-02, RES-20: what other responses carry | `request_scoped.rs` |
//! | MRTR-07, INP-01, INP-17: what a client has to declare before it is asked | `input_request.rs` |
//! | MRTR-02 to MRTR-06, CMP-03, SUB-03, SUB-14: results | `reply.rs` |

pub(crate) mod accept;
pub(crate) mod challenge;
mod content_coding;
mod content_type;
pub(crate) mod cors;
pub(crate) mod errors;
pub(crate) mod frame;
pub(crate) mod head_size;
pub(crate) mod header_value;
pub(crate) mod host;
pub(crate) mod input_request;
pub(crate) mod json;
mod mcp_method;
mod mcp_name;
mod members;
mod message;
pub(crate) mod meta_key;
pub(crate) mod methods;
pub(crate) mod order;
pub(crate) mod origin;
mod params;
pub(crate) mod progress;
mod protocol_version;
pub(crate) mod rate;
pub(crate) mod reply;
mod request_meta;
pub(crate) mod request_scoped;
pub(crate) mod subscription;
#[cfg(feature = "suite")]
pub(crate) mod tool_name;
mod trace_context;
pub(crate) mod x_mcp_header;
