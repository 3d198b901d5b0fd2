//! Tests of the container engine's client with a real Docker Engine or Podman. `TEST_ENGINE_SOCKET` has the path of the
//! engine's socket. The engine must be able to connect to ports of the test on 127.0.0.1.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod app_files;
mod build;
mod contract;
mod crashes;
mod events;
mod faults;
mod images;
mod info;
mod lifecycle;
mod material;
mod registry;
mod restart;
mod restore;
mod start_app;
mod start_failures;
mod support;
mod volumes;
