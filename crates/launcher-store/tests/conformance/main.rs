//! What every database engine has to do the same way. Each test gets a fresh, empty database of each engine that this
//! build has, from [`support::on_every_engine`]: SQLite, and with the feature `test-postgres` also PostgreSQL.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod activities;
mod change;
mod copy;
mod dispatch;
mod doctor;
mod feed;
mod housekeeping;
mod launch;
mod launch_rate;
mod lists;
mod migration;
mod open;
mod order;
mod overview;
#[cfg(feature = "test-postgres")]
mod postgres;
#[cfg(feature = "test-postgres")]
mod proxy;
#[cfg(feature = "test-postgres")]
mod replicas;
mod scope;
#[cfg(feature = "test-postgres")]
mod server;
mod settings;
mod sqlite;
mod support;
mod templates;
#[cfg(feature = "test-postgres")]
mod tls;
