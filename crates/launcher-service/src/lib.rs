//! The use cases of the workshop launcher, and the two loops that reconcile rows and Workshops.
//!
//! A request writes a row and returns. [`dispatch`](Launcher::run) turns rows into Workshop specs, *observe* turns
//! Workshop statuses into rows, and the [feed](Launcher::subscribe) sends changes to callers. Every step is
//! idempotent and level-triggered: after a crash between two steps, the next round finds the remaining work in the
//! rows.

mod archive;
mod attempts;
mod change;
mod claim;
mod class_board;
mod class_bulk;
mod class_file;
mod classes;
mod dispatch;
mod downloads;
mod error;
mod feed;
mod fleets;
mod hands;
mod images;
mod instances;
mod join;
mod launch;
mod launcher;
mod metrics;
mod observe;
mod overview;
mod restoring;
mod saving;
mod settings;
mod snapshots;
mod source_checks;
mod template_workshops;
mod templates;
mod traces;
mod upkeep;
mod volumes;
mod zip;

pub use archive::ArchiveFormat;
pub use claim::ClaimError;
pub use class_bulk::{BulkOutcome, BulkResult};
pub use class_file::{ClassFiles, YamlError, from_yaml, to_yaml};
pub use classes::{MemberDraft, NewClass};
pub use downloads::DOWNLOAD_BYTES;
pub use error::{ErrorChain, ServiceError};
pub use feed::FeedEvent;
pub use fleets::Fleets;
pub use launch::{LaunchRequest, Launched};
pub use launcher::Launcher;
pub use launcher_fleet::ImageState;
pub use launcher_store::{
    ActivityFilter, Attendance, Cursor, InstanceCount, InstanceFilter, ListedInstance, ListedVolume, LoggedActivity,
    Page, SearchText, SortBy, SortOrder, StateFilter, VolumeUser,
};
pub use overview::{Hour, LaunchStats, Overview, ReadyTimes};
pub use settings::{Limits, SnapshotSettings};
pub use snapshots::{SNAPSHOT_BYTES, Snapshots};
pub use template_workshops::{Extension, TemplateStates};
pub use templates::{Catalog, TemplateUpdate, validate_template};
pub use volumes::Download;
