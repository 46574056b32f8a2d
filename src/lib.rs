//! MCP servers the OTP way.
pub mod wire;
