//! Conformance tests that every database engine must pass. [`support::on_every_engine`] gives each test a fresh, empty
//! database per engine of this build: SQLite, and with the feature `test-postgres` also PostgreSQL.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod activities;
mod change;
mod class_bulk;
mod classes;
mod copies;
mod copy;
mod dispatch;
mod doctor;
mod feed;
mod hands;
mod housekeeping;
mod join;
mod launch;
mod launch_rate;
mod listing;
mod lists;
mod migration;
mod open;
mod order;
mod overview;
mod parameters;
#[cfg(feature = "test-postgres")]
mod postgres;
#[cfg(feature = "test-postgres")]
mod proxy;
#[cfg(feature = "test-postgres")]
mod queue;
#[cfg(feature = "test-postgres")]
mod replicas;
mod reused;
mod scope;
mod search;
#[cfg(feature = "test-postgres")]
mod server;
mod settings;
mod snapshots;
mod sqlite;
mod support;
mod suspend;
mod templates;
#[cfg(feature = "test-postgres")]
mod tls;
mod volumes;
