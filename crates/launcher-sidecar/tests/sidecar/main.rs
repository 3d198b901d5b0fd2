//! The sidecar over raw sockets: what is sent and what arrives, byte for byte.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed expectation is a failed test")]

mod binary;
mod connections;
mod cookies;
mod events;
mod framing;
mod lengths;
mod limits;
mod owner;
mod proxying;
mod responses;
mod streaming;
mod support;
mod websocket;
