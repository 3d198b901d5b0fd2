//! Course material of a workshop: places repositories and archives in the student's directory, and merges later versions
//! with the student's files.
//!
//! The program runs in the workshop's own sandbox, before the app starts. It trusts neither the servers nor the student's
//! directory: it bounds time, memory and disk, and never follows a link.
//!
//! The modules form layers. Each module imports only modules of later entries in this list:
//!
//! - [`run`]: all sources, and the deadline, and only one attempt if it was killed
//! - `source`: one source; [`check`]: one source, without placing it
//! - `git`, `archive`: the files of a version
//! - [`merge`]: the student's files
//! - `threads`: all sources at the same time
//! - `web`, `space`: requests; temporary files and free space of volumes
//! - `secret`: user names and passwords of private sources
//! - [`receive`]: saved files that the launcher sends
//! - [`content`], [`directory`]: lists of files; access to directories
//! - [`image`], [`restore`]: the files of the app's image, and saved files, which need no other module
//! - [`path`], [`meter`], [`limits`], [`failure`]: rules without I/O

mod archive;
pub mod check;
pub mod content;
pub mod directory;
pub mod failure;
mod git;
pub mod image;
pub mod limits;
pub mod merge;
pub mod meter;
pub mod path;
pub mod receive;
pub mod restore;
pub mod run;
mod secret;
mod source;
mod space;
mod threads;
mod web;

pub use limits::Limits;
pub use run::run;
pub use web::Reach;
