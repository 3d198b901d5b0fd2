//! What every database engine has to do the same way. Each test gets a fresh, empty database of each engine that this
//! build has, from [`support::on_every_engine`].

mod change;
mod dispatch;
mod feed;
mod housekeeping;
mod launch;
mod lists;
mod open;
mod scope;
mod support;
mod templates;
