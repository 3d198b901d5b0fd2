//! Tests of the sidecar. They compare the raw bytes that client and app receive.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed expectation is a failed test")]

mod archive;
mod archive_beside_app;
mod archive_files;
mod binary;
mod buffers;
mod connections;
mod cookies;
mod embedding;
mod events;
mod frame;
mod frame_events;
mod framing;
mod isolation;
mod lengths;
mod limits;
mod lingering_close;
#[path = "../../../launcher-testkit/src/metrics.rs"]
#[expect(unreachable_pub, reason = "others use it as a part of their test kit")]
mod metrics;
mod network_rules;
mod notice;
mod owner;
mod ports;
mod proof;
mod proxying;
mod responses;
mod serve_as;
mod slots;
mod streaming;
mod support;
mod tabs;
mod tunnels;
mod unauthenticated;
mod unix_sockets;
mod websocket;
