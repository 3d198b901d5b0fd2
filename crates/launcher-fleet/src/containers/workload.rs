//! The workload of one Workshop: its containers, its reservation of memory and CPU, and its sidecar's socket; and the data that all
//! Workshops of an open fleet share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bollard::models::ContainerCreateBody;
use launcher_domain::Report;
use launcher_domain::sync::lock;
use launcher_workshop::WorkshopStatus;
use tokio::sync::{Notify, OnceCell};

use super::build::{MaterialVolume, material_volumes};
use super::capacity::{Capacity, Reservation};
use super::engine::{Engine, EngineError, EngineInfo};
use super::names::{self, Part};
use super::pulls::Pulls;
use super::settings::ContainerOptions;
use super::supervisor::FrameStatus;
use crate::machine;

/// The record of a Workshop. The engine's containers are found by their names, so the record describes no process.
pub(super) type Record = machine::Record<()>;
impl Record {
    /// Prepares the record of a Workshop whose containers belong to another copy of the data directory: the Workshop
    /// starts again, in new containers. Its lifetime continues.
    pub(super) fn forget_containers(&mut self) {
        let status = self.status();
        if !status.phase.is_final() {
            // The new containers need the course material and the saved files again.
            let report = Report { last_crash: status.report.last_crash, ..Report::default() };
            let (ready_at, observed_generation) = (status.ready_at, self.workshop.metadata.generation);
            let pending = WorkshopStatus { report, ready_at, observed_generation, ..WorkshopStatus::default() };
            self.workshop.status = Some(pending);
            self.is_restored = false;
        }
    }
}

pub(super) type StoredRecord = machine::StoredRecord<()>;

pub(super) type Workload = machine::Workload<ContainerBackend>;

/// The part of a workload that only this kind of fleet has.
#[derive(Default)]
pub(crate) struct ContainerBackend {
    /// The workshop's memory and CPU, or its position in the queue, from before the creation of its containers until after their removal.
    reservation: Mutex<Option<Arc<Reservation>>>,
    /// Held while the engine creates one of the workshop's containers.
    creation: Arc<tokio::sync::Mutex<()>>,
    /// Wakes the supervisor when the engine reports an event of the workshop's containers.
    pub(super) events: Notify,
    /// The values of the frame page that were written last.
    pub(super) frame: Mutex<Option<FrameStatus>>,
}

/// The engine, and what all Workshops of an open container fleet share.
pub(crate) struct Containers {
    pub(crate) options: ContainerOptions,
    pub(crate) engine: Engine,
    pub(crate) engine_info: EngineInfo,
    /// True if the engine can limit the disk space of a container; empty until the engine has answered.
    pub(super) limits_disk: OnceCell<bool>,
    /// The seccomp profile of all containers, as a security option of the engine.
    pub(super) seccomp: String,
    pub(super) pulls: Pulls,
    pub(crate) capacity: Capacity,
    /// User ID of the sidecars, which own the sockets.
    pub(crate) sidecar_user: u32,
}

impl Workload {
    pub(super) fn engine(&self) -> &Engine {
        &self.fleet().engine
    }

    pub(super) fn container(&self, part: Part) -> String {
        names::container(&self.data_dir().id, self.name(), part)
    }

    pub(super) fn has_material(&self) -> bool {
        self.record.workshop().spec.material.is_some()
    }

    /// Returns the volumes with course material that new containers of the workshop mount.
    pub(super) fn mounted_material(&self) -> Vec<MaterialVolume> {
        let is_available = self.fleet().options.material_image.is_some();
        if is_available { self.material_volumes() } else { Vec::new() }
    }

    /// Returns the volumes with course material that the workshop may have.
    pub(super) fn material_volumes(&self) -> Vec<MaterialVolume> {
        material_volumes(&self.record.workshop().spec, &self.data_dir().id, self.name())
    }

    pub(super) fn run_dir(&self) -> PathBuf {
        self.data_dir().layout.sidecar_sockets(self.name())
    }

    /// Returns the workshop's reservation, or position in the queue, if it has entered.
    pub(super) fn reservation(&self) -> Option<Arc<Reservation>> {
        lock(&self.backend.reservation).clone()
    }

    /// Keeps the workshop's reservation, or releases it with `None`. Release it only after the containers are removed.
    pub(super) fn set_reservation(&self, reservation: Option<Arc<Reservation>>) {
        *lock(&self.backend.reservation) = reservation;
    }

    /// Creates one of the workshop's containers, and before the app its volumes. If the caller is cancelled, the engine
    /// still finishes the creation; a removal must wait for it in [`Workload::wait_for_creation`].
    pub(super) async fn create(self: &Arc<Self>, part: Part, body: ContainerCreateBody) -> Result<(), EngineError> {
        let creation = Arc::clone(&self.backend.creation).lock_owned().await;
        let workload = Arc::clone(self);
        let created = tokio::spawn(async move {
            let _creation = creation;
            if part == Part::App {
                workload.create_volumes().await?;
            }
            workload.engine().create(&workload.container(part), body).await
        });
        created.await.unwrap_or_else(|error| Err(EngineError::Other(format!("the creation was aborted: {error}"))))
    }

    async fn create_volumes(&self) -> Result<(), EngineError> {
        let (engine, data_dir) = (self.engine(), self.data_dir());
        let (workshop, name) = (self.record.workshop(), self.name());
        if let Some(storage) = workshop.spec.storage {
            let fleet_id = &data_dir.fleet_id;
            let labels = names::volume_labels(fleet_id);
            engine.create_volume(&names::volume(fleet_id, &storage.volume), fleet_id, labels).await?;
        }
        let uid = workshop.metadata.uid.unwrap_or_default();
        for volume in self.mounted_material() {
            let labels = names::container_labels(&data_dir.id, name, &uid, Part::Material);
            engine.create_volume(&volume.name, &data_dir.id, labels).await?;
        }
        Ok(())
    }

    /// Waits until the engine has finished the creation of a container. Without it, a removal could find no container,
    /// and the engine would create it afterwards.
    pub(super) async fn wait_for_creation(&self) {
        drop(self.backend.creation.lock().await);
    }

    /// True if the engine can limit the disk space of a container. Asks the engine until it has answered once. Without an
    /// answer, containers get no limit: their creation reports the problem of the engine.
    pub(super) async fn limits_disk(&self) -> Result<bool, EngineError> {
        let ask = || {
            let labels = names::disk_limit_labels(&self.data_dir().id);
            let Containers { engine, engine_info, options, .. } = self.fleet();
            engine.limits_disk(engine_info, &options.sidecar_image, labels)
        };
        match self.fleet().limits_disk.get_or_try_init(ask).await {
            Ok(answer) => Ok(*answer),
            Err(error @ (EngineError::Unreachable { .. } | EngineError::DiskFull { .. })) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "checking disk limit of container engine failed, retrying");
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Record;

    #[test]
    fn new_containers_of_a_copied_data_directory_get_the_course_material_again() {
        let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
        let spec = json!({
            "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "resources": resources,
            "securityProfile": "restricted", "lifetimeSeconds": 3600,
        });
        let report = json!({ "sources": [{ "target": "data", "outcome": "placed" }] });
        let status = json!({ "phase": "Running", "readyAt": "2026-01-01T12:00:00Z", "material": report });
        let workshop = json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": { "name": "lab-a" },
            "spec": spec, "status": status,
        });
        let mut record: Record = serde_json::from_value(json!({ "workshop": workshop })).unwrap();

        record.forget_containers();

        let status = record.status();
        assert_eq!((status.report.material, status.ready_at.is_some()), (None, true));
    }
}
