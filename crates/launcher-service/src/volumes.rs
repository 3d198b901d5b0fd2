//! Use cases of volumes: users list and delete their kept files, and upkeep deletes unused ones.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::names::is_volume_name;
use launcher_domain::{Activity, Caller, EmailAddress, EndReason, Instance, InstanceState};
use launcher_fleet::{ByteStream, MAX_READ_WAIT, ReadError};
use launcher_store::{ListedVolume, Page, VolumeDeletion};
use tokio::time::timeout;

use crate::archive::{ArchiveFormat, to_format};
use crate::change::Target;
use crate::error::{ErrorChain, LoopError, ServiceError};
use crate::launcher::Launcher;
use crate::observe::call_fleet;

/// Precision of the last use of a volume while a workshop uses it.
const USE_PRECISION: SignedDuration = SignedDuration::from_hours(1);

pub struct Download {
    pub listed: ListedVolume,
    pub files: ByteStream,
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").field("listed", &self.listed).finish_non_exhaustive()
    }
}

impl Launcher {
    /// Lists a page of the caller's volumes, newest first. An admin gets the volumes of all owners, or those of `owner`.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn volumes(
        &self,
        caller: &Caller,
        owner: Option<&EmailAddress>,
        page: &Page,
    ) -> Result<Vec<ListedVolume>, ServiceError> {
        Ok(self.0.store.volumes(caller, owner, page).await?)
    }

    /// Returns one volume that the caller may see.
    ///
    /// # Errors
    /// NotFound when the volume does not exist or belongs to another person; Unavailable.
    pub async fn volume(&self, caller: &Caller, name: &str) -> Result<ListedVolume, ServiceError> {
        self.0.store.volume(caller, name).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns the retention of volumes after their last use; `None` without end.
    #[must_use]
    pub fn volume_retention(&self) -> Option<Duration> {
        self.0.limits.volume_retention
    }

    /// Returns true if the fleet can read the files of volumes.
    #[must_use]
    pub fn can_download(&self) -> bool {
        self.0.fleets.main().archives().is_some()
    }

    /// Returns the files of a volume as a tar archive, compressed with gzip, also while a workshop uses the volume. An error in the stream means
    /// that the archive is incomplete.
    ///
    /// # Errors
    /// NotFound when the volume does not exist or belongs to another person; FleetWithoutDownloads, TooManyDownloads,
    /// DownloadNotReady, FleetUnavailable, Unavailable.
    pub async fn download_volume(
        &self,
        caller: &Caller,
        name: &str,
        format: ArchiveFormat,
    ) -> Result<Download, ServiceError> {
        let listed = self.volume(caller, name).await?;
        let fleet = self.0.fleets.of(listed.volume.namespace.as_deref()).map_err(ServiceError::FleetUnavailable)?;
        let archives = fleet.archives().ok_or(ServiceError::FleetWithoutDownloads)?;
        let slot = self.0.downloads.take(caller.email()).ok_or(ServiceError::TooManyDownloads)?;
        let opened = timeout(MAX_READ_WAIT, archives.read(&listed.volume.name)).await;
        let opened = opened.unwrap_or_else(|elapsed| Err(ReadError::NotReady(elapsed.to_string())));
        let tar = opened.map_err(|error| match error {
            ReadError::Fleet(error) => ServiceError::FleetUnavailable(error),
            error @ ReadError::NotReady(_) => {
                tracing::warn!(volume = name, %error, "opening the files of a volume failed");
                ServiceError::DownloadNotReady(error)
            }
        })?;
        let volume = &listed.volume;
        self.log_download(caller, &volume.owner_email, |action, act| Activity::of_volume(action, volume, act)).await?;
        tracing::info!(volume = name, by = %caller.email(), "download of volume begins");
        Ok(Download { listed, files: slot.hold(to_format(tar, format)) })
    }

    /// Deletes a volume with its files. Later launches get a new volume. The fleet deletes the files within a minute.
    ///
    /// # Errors
    /// NotFound when the volume does not exist or belongs to another person; VolumeInUse; Unavailable.
    pub async fn delete_volume(&self, caller: &Caller, name: &str) -> Result<(), ServiceError> {
        if !is_volume_name(name) {
            return Err(ServiceError::NotFound);
        }
        match self.0.store.delete_volume(caller, name, self.0.clock.now()).await? {
            VolumeDeletion::Decided => {
                tracing::info!(volume = name, by = %caller.email(), "deletion of volume requested");
                self.0.upkeep.notify_one();
                Ok(())
            }
            VolumeDeletion::NotFound => Err(ServiceError::NotFound),
            VolumeDeletion::InUse(user) => Err(ServiceError::VolumeInUse(user)),
        }
    }

    /// Records the use of the volumes of live instances, and decides the deletion of volumes that were not used for the
    /// retention. Ends suspended instances with such volumes first.
    pub(crate) async fn decide_unused_volumes(&self) -> Result<(), LoopError> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        if let Ok(stale) = now.checked_sub(USE_PRECISION) {
            store.observe_used_volumes(now, stale).await?;
        }
        let retention = self.0.limits.volume_retention.and_then(|retention| SignedDuration::try_from(retention).ok());
        store.announce_retention(retention, now).await?;
        let Some(retention) = retention else { return Ok(()) };
        if let Ok(before) = now.checked_sub(retention) {
            self.end_forgotten(before, now).await?;
            let unused = store.purge_unused_volumes(before, now).await?;
            if unused > 0 {
                tracing::info!(unused, "deleting volumes that were not used for the retention");
            }
        }
        Ok(())
    }

    /// Ends the suspended instances whose volumes were last used before this time, and whose announced deletion time
    /// has passed. A concurrent resume wins: it uses the volume again, and the instance is no longer suspended.
    async fn end_forgotten(&self, before: Timestamp, now: Timestamp) -> Result<(), ServiceError> {
        for instance in self.0.store.observe_forgotten(before, now).await? {
            let is_suspended = |row: &Instance| row.state == InstanceState::Suspended;
            let ended = |row: &Instance| row.terminate(EndReason::Expired, now).filter(|_| is_suspended(row));
            self.change_instance(Target::ByService(&instance.k8s_name), |row| Ok(ended(row))).await?;
        }
        Ok(())
    }

    /// Deletes the files of volumes whose deletion is decided. A volume that the fleet cannot delete yet waits for the
    /// next round, and does not delay the others.
    pub(crate) async fn purge_volumes(&self) -> Result<(), LoopError> {
        for (name, namespace) in self.0.store.purge_volumes().await? {
            let deletion = async { self.0.fleets.of(namespace.as_deref())?.delete_volume(&name).await };
            match call_fleet(deletion).await {
                Ok(()) => {
                    self.0.store.purge_volume(&name).await?;
                    tracing::info!(volume = name, "deleted volume");
                }
                Err(error) => {
                    tracing::warn!(volume = name, error = %ErrorChain(&error), "deleting volume failed, retrying");
                }
            }
        }
        Ok(())
    }
}
