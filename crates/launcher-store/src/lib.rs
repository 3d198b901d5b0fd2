//! Persistence of the workshop launcher. Other crates see no SQL.
//!
//! Every read and write of an instance takes a [`Caller`](launcher_domain::Caller) or a
//! [`Scope`](launcher_domain::Scope) and puts it into the statement. "Not yours" and "not there" are therefore the same
//! missing row. Functions without a caller or scope are named after the loop that may call them (`dispatch_…`,
//! `observe_…`). A launch carries its owner in the instance itself, and a change needs the row that was read before.
//!
//! Each statement has one text, in the SQL that SQLite and PostgreSQL share. Differences between engines are in
//! `engine.rs`.

#[macro_use]
mod table;
#[macro_use]
mod rows;

mod activities;
mod classes;
mod copy;
mod dispatch;
pub mod doctor;
mod driver;
mod engine;
mod error;
mod feed;
mod filter;
mod hands;
mod instances;
mod join;
mod launch;
mod observe;
mod overview;
#[cfg(test)]
mod plans;
mod queue;
mod snapshots;
mod sql;
mod store;
mod templates;
mod volumes;

pub use classes::{Attendance, MemberChange};
pub use copy::FleetBinding;
pub use dispatch::Pending;
pub use error::StoreError;
pub use feed::Changes;
pub use filter::{ActivityFilter, InstanceCount, InstanceFilter, Page, SearchText, StateFilter};
pub use instances::{Cursor, InvalidCursor, SortBy, SortOrder};
pub use join::JoinOutcome;
pub use launch::{IdempotencyKey, LaunchOutcome, LaunchRules, ResumeOutcome};
pub use overview::{EndedCount, LaunchCount, LiveCount};
pub use rows::{ListedInstance, LoggedActivity};
pub use store::Store;
pub use volumes::{ListedVolume, VolumeDeletion, VolumeUser};
