//! "Saved work": the kept files of a user and the saved files of ended workshops, and those of all users for admins. Each
//! entry can be downloaded and deleted.

pub(crate) mod list;
mod question;
mod rows;
pub(crate) mod snapshots;
pub(crate) mod volumes;
