//! The parts of a record and of a state directory that only this fleet has: the app's process, token and log.

pub(super) mod log;
mod started;
mod token;

pub(super) use started::Started;
pub(super) use token::Token;

/// The record of a Workshop whose app is a process.
pub(super) type Record = crate::machine::Record<Started>;
/// The stored record of a Workshop whose app is a process.
pub(super) type StoredRecord = crate::machine::StoredRecord<Started>;
