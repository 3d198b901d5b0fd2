//! The port [`Fleet`]: the interface between the service and a fleet.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use launcher_domain::names::is_volume_name;
use launcher_domain::template::MaterialSource;
use launcher_domain::{ArchiveToken, FailureReason, MaterialFinding, SecretValues};
use launcher_workshop::{ResourceExt, Workshop, WorkshopSpec};

use crate::byte_stream::ByteStream;

/// Turns Workshops into running workloads: through the operator on Kubernetes, or as processes or containers on this
/// machine.
///
/// The service writes the specs of Workshops, and the fleet writes their statuses. Every call is idempotent: the
/// service can retry it after a crash or a timeout. Every adapter passes `launcher_testkit::fleet_contract`.
#[async_trait]
pub trait Fleet: Debug + Send + Sync + 'static {
    /// Creates the Workshop with this name, or updates its spec, labels and annotations. Returns the stored Workshop
    /// with its `metadata.uid` and its status. This call never changes the status. If `workshop` has a uid, the call
    /// updates only the Workshop with that uid, and does not create it again if it is gone.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] also for a Workshop that is gone: the watch reports its deletion.
    /// [`FleetError::Refused`]: the fleet will never accept this spec.
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        self.apply_with_secrets(workshop, &SecretValues::default()).await
    }

    /// Does the same as [`Fleet::apply`], and gives the app the values of the variables that `spec.secretEnv` names. The
    /// app never starts without them. Workshop, status and events do not contain them, and they are gone with the Workshop.
    /// The values of a Workshop never change: later calls may repeat or omit them.
    async fn apply_with_secrets(&self, workshop: &Workshop, secrets: &SecretValues) -> Result<Workshop, FleetError>;

    /// Deletes the Workshop with this name. With a uid, it deletes only the Workshop with that uid, and not a later
    /// Workshop with the same name.
    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError>;

    /// Returns the Workshop with this name, or `None` if it does not exist.
    ///
    /// # Errors
    /// [`FleetError::Refused`]: the Workshop exists but cannot be parsed.
    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError>;

    /// Returns the identity of this fleet, to which the rows of the database belong. It never changes for the same data
    /// directory or Kubernetes namespace.
    async fn identity(&self) -> Result<String, FleetError>;

    /// Streams all Workshops as [`FleetEvent::Relisted`], then each change. If changes were lost, the stream sends all
    /// Workshops again. It ends only when the fleet is closed.
    fn watch(&self) -> BoxStream<'static, FleetEvent>;

    /// Deletes a volume with its files. A missing volume is no error. Volumes have names of
    /// [`is_volume_name`](launcher_domain::names::is_volume_name). The fleet creates a volume for the first Workshop that
    /// has it in `spec.storage`, and never deletes one without this call.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] also while a workload uses the volume. [`FleetError::Refused`]: the name is not one of a
    /// volume.
    async fn delete_volume(&self, name: &str) -> Result<(), FleetError>;

    /// Returns the archives of files; `None` if the fleet cannot read files.
    fn archives(&self) -> Option<&dyn Archives> {
        None
    }

    /// Returns the checks of course material; `None` if the fleet cannot load any without a workshop.
    fn source_checks(&self) -> Option<&dyn SourceChecks> {
        None
    }

    /// Returns the images on the fleet's machine; `None` if the fleet runs no images, or runs them on other machines.
    fn images(&self) -> Option<&dyn Images> {
        None
    }
}

/// The checks of course material before a template names it.
#[async_trait]
pub trait SourceChecks: Debug + Send + Sync {
    /// Loads public sources without placing them, within the rules of the network that apply to workshops. Returns one
    /// finding for each source. This call takes at most 30 seconds.
    async fn check(&self, sources: &[MaterialSource]) -> Result<Vec<MaterialFinding>, FleetError>;
}

/// The archives of volumes, and of the apps of running Workshops.
#[async_trait]
pub trait Archives: Debug + Send + Sync {
    /// Returns the files of a volume as a tar archive, also while a workload changes them. The paths are relative to the
    /// volume. The archive of a missing volume is empty. This call takes at most [`MAX_READ_WAIT`].
    ///
    /// # Errors
    /// [`FleetError::Refused`]: the name is not one of a volume. [`ReadError::NotReady`].
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError>;

    /// True if [`Archives::read_app`] can read the files of a Workshop with this spec and a `spec.snapshot`.
    fn can_read_app(&self, spec: &WorkshopSpec) -> bool {
        spec.storage.is_none()
    }

    /// True if a Workshop with this spec can start with `spec.restore`.
    fn can_restore(&self, spec: &WorkshopSpec) -> bool;

    /// Sends the saved files of `spec.restore` to a Workshop that waits for them: one whose status has a `restoreAddress`.
    /// `token` is the one whose hash is in the spec. Returns when the Workshop has the files, or waits no longer. If they
    /// cannot be read, the Workshop fails. Fleets on one machine place the files without this call.
    async fn send_saved_files(&self, workshop: &str, token: &ArchiveToken) {
        let _ = (workshop, token);
    }

    /// Returns the files of the app of a running Workshop with `spec.snapshot` as a tar archive: those of its directory,
    /// with paths relative to it, also while the app changes them. `token` is the one whose hash is in the spec. This call
    /// takes at most [`MAX_READ_WAIT`].
    ///
    /// # Errors
    /// [`FleetError::Refused`]: no Workshop has this name, or it has no readable files. [`ReadError::NotReady`].
    async fn read_app(&self, workshop: &str, token: &ArchiveToken) -> Result<ByteStream, ReadError>;
}

/// Source of saved files: the archives of snapshots. A fleet that has one can start a Workshop with `spec.restore`.
#[async_trait]
pub trait SavedFiles: Debug + Send + Sync + 'static {
    /// Returns the files of a snapshot as a tar archive of files and directories, with limits for their number and size. Each
    /// path is relative, and stays below the directory that gets the files. An error in the stream means that the archive is
    /// incomplete.
    async fn open(&self, snapshot: &str) -> Result<ByteStream, SavedFilesError>;
}

/// Error of [`SavedFiles::open`].
#[derive(Debug, thiserror::Error)]
pub enum SavedFilesError {
    #[error("the saved files no longer exist")]
    Missing,
    /// Temporary: the same call may succeed later.
    #[error("the saved files cannot be read: {0}")]
    Unavailable(String),
}

/// The images on the machine of a fleet.
#[async_trait]
pub trait Images: Debug + Send + Sync {
    async fn state(&self, image: &str) -> Result<ImageState, FleetError>;

    /// Begins to pull an image in the background, unless the image is ready or is already pulled. Returns the new state.
    /// The pull ends without the image if the fleet is closed.
    async fn begin_pull(&self, image: &str) -> Result<ImageState, FleetError>;
}

/// State of an image on the machine of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageState {
    /// The image is not on the machine. The next launch pulls it.
    Missing,
    Pulling {
        /// Downloaded part of the known bytes: 0 before the download begins, and 100 while the image is unpacked.
        percent: u32,
    },
    Ready,
    /// The image is not on the machine, and its last pull has failed. The next launch pulls it again.
    Failed(Box<FailureReason>),
}

/// Progress of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    Gone,
    /// The Workshop is being deleted. The watch sends [`FleetEvent::Deleted`] when it is gone.
    InProgress,
}

/// An event of [`Fleet::watch`].
#[derive(Debug, Clone, PartialEq)]
pub enum FleetEvent {
    /// All readable Workshops. A Workshop that is not in the list is gone or unreadable: [`Fleet::get`] distinguishes
    /// the two.
    Relisted(Vec<Workshop>),
    Applied(Box<Workshop>),
    /// A Workshop and its workload are gone.
    Deleted(Box<Workshop>),
}

#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Temporary: the same call may succeed later, so the caller should retry. Every call can fail with it.
    #[error("fleet unavailable: {0}")]
    Unavailable(String),
    /// Permanent: the fleet will never accept this Workshop.
    #[error("the fleet refuses the call: {0}")]
    Refused(String),
}

/// Error of [`Archives::read`].
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The fleet could not open the volume in time: for example, no node has room. The message is for administrators.
    #[error("the files could not be opened in time: {0}")]
    NotReady(String),
}

/// Maximum time of [`Archives::read`], until the archive begins.
pub const MAX_READ_WAIT: Duration = Duration::from_secs(45);

/// Error message of [`Fleet::apply`] when the Workshop with the given uid is gone.
pub(crate) const GONE: &str = "the Workshop to change no longer exists";

pub(crate) fn check_readable(workshop: &Workshop) -> Result<(), FleetError> {
    let has_ended = workshop.metadata.deletion_timestamp.is_some()
        || workshop.status.as_ref().is_some_and(|status| status.phase.is_final());
    let reason = match &workshop.spec {
        _ if has_ended => "it has ended",
        spec if spec.storage.is_some() => "they are in its volume",
        spec if spec.snapshot.is_none() => "its spec has no snapshot",
        _ => return Ok(()),
    };
    Err(FleetError::Refused(format!("the files of {} cannot be read: {reason}", workshop.name_any())))
}

/// Refuses a name that is not one of a volume. The name becomes a directory, or the name of the engine's volume.
pub(crate) fn validate_volume(volume: &str) -> Result<(), FleetError> {
    if is_volume_name(volume) {
        return Ok(());
    }
    Err(FleetError::Refused(format!("{volume:?} is not the name of a volume")))
}

pub(crate) fn missing(name: &str) -> FleetError {
    FleetError::Refused(format!("no Workshop has the name {name:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the error message for a running Workshop with these changes of its spec, in this phase.
    fn refusal(changes: &Value, phase: &str) -> Option<String> {
        let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
        let mut spec = json!({
            "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "resources": resources,
            "securityProfile": "restricted", "lifetimeSeconds": 3600,
            "snapshot": { "tokenSha256": "0".repeat(64), "graceSeconds": 90 },
        });
        spec.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let workshop: Workshop = serde_json::from_value(json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": { "name": "lab-a" },
            "spec": spec, "status": { "phase": phase },
        }))
        .unwrap();
        check_readable(&workshop).err().map(|error| error.to_string())
    }

    #[test]
    fn only_files_of_a_workshop_with_a_snapshot_and_without_a_volume_are_readable_before_its_end() {
        assert_eq!(refusal(&json!({}), "Running"), None);
        // The app has crashed, and starts again beside its files.
        assert_eq!(refusal(&json!({}), "Starting"), None);
        let storage = json!({ "storage": { "volume": "work-aaaaaaaaaa", "size": "1Gi", "path": "/work" } });
        let cases = [
            (json!({}), "Expired", "it has ended"),
            (json!({}), "Failed", "it has ended"),
            (storage, "Running", "they are in its volume"),
            (json!({ "snapshot": null }), "Running", "its spec has no snapshot"),
        ];
        for (changes, phase, expected) in cases {
            let found = refusal(&changes, phase).unwrap();
            assert!(found.contains("lab-a") && found.ends_with(expected), "{found}");
        }
    }
}
