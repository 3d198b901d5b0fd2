//! What every database engine has to do the same way. Each test gets a fresh, empty database of each engine that this
//! build has, from [`support::on_every_engine`].

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod change;
mod dispatch;
mod feed;
mod housekeeping;
mod launch;
mod lists;
mod open;
mod scope;
mod sqlite;
mod support;
mod templates;
