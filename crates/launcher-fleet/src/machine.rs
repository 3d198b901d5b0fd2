//! Common code of the fleets on the launcher's machine: the stored records of their Workshops, the supervision of each
//! Workshop by one task, and the gateway to the workshops' sidecars.
//!
//! A fleet implements [`Supervised`] for its workloads. [`Registry`] then implements the rules of the port
//! [`Fleet`](crate::Fleet) for it: uids, refusals, deletions and the watch.

mod data_dir;
mod deadlines;
mod files;
mod fleet;
mod gateway;
mod listening;
mod log_tail;
mod origins;
mod record;
mod registry;
mod source_check;
mod supervised;
mod watch_cache;

pub use data_dir::DataDirError;
pub(crate) use data_dir::{DataDir, is_in_use, stored_identity};
pub(crate) use deadlines::{Passed, wait_until_expired, wait_until_late};
pub(crate) use files::{Layout, make_private, remove_directory, replace_file};
pub(crate) use fleet::MachineFleet;
pub(crate) use gateway::{Connection, SidecarConnector};
pub use gateway::{Gateway, Unserved, notice_response, own_response};
pub(crate) use listening::report_listening;
pub(crate) use log_tail::plain_tail;
pub use origins::{InvalidOrigin, OriginSettings};
pub(crate) use record::{Record, StoredRecord, ready, starting};
pub(crate) use registry::{Registry, validate_volume};
pub(crate) use source_check::SourceChecker;
pub(crate) use supervised::{Context, DesiredState, DesiredStateCell, Remainder, Supervised};
