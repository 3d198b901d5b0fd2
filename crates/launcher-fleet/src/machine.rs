//! Common code of the fleets on the launcher's machine: the stored records of their Workshops, the supervision of each
//! Workshop by one task, and the gateway to the workshops' sidecars.
//!
//! A fleet implements [`Backend`]: what differs between processes and containers. [`supervise`] has the order of the steps, and
//! [`Registry`] the rules of the port [`Fleet`](crate::Fleet): uids, refusals, deletions and the watch.

mod backend;
mod data_dir;
mod files;
mod fleet;
mod gateway;
mod log_tail;
mod origins;
mod record;
mod registry;
mod settings;
mod supervise;
mod watch_cache;
mod workload;

pub(crate) use backend::{Attempt, Backend, Look, NotPlaced, Setback};
pub use data_dir::DataDirError;
pub(crate) use data_dir::{DataDir, is_in_use, stored_identity};
pub(crate) use files::{Layout, make_private, remove_directory, replace_file};
pub(crate) use fleet::MachineFleet;
pub(crate) use gateway::{Connection, SidecarConnector};
pub use gateway::{Gateway, Unserved, notice_response, own_response};
pub(crate) use log_tail::plain_tail;
pub use origins::OriginSettings;
pub(crate) use record::{Record, StoredRecord, starting};
pub(crate) use registry::Registry;
pub use settings::{MachineFleetError, MachineSettings};
pub(crate) use supervise::{MAX_RETRY_DELAY, RETRY_DELAY};
pub(crate) use workload::{DesiredState, Shared, Workload};
