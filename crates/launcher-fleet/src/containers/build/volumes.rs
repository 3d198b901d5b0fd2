//! Mounts: the engine's volumes with kept files, course material, and temporary files; and directories of this machine.

use std::path::Path;

use bollard::models::{Mount, MountType, MountVolumeOptions};
use launcher_workshop::{WorkshopSpec, WorkshopStorage};

use crate::containers::names;

/// A volume with the material of one source.
pub(crate) struct MaterialVolume {
    /// The engine's name of the volume.
    pub(crate) name: String,
    /// Path at which the app and the container that places the material mount the volume.
    pub(crate) path: String,
}

impl MaterialVolume {
    /// Returns the mount of the volume.
    pub(super) fn mount(self) -> Mount {
        let Self { name, path } = self;
        Mount { typ: Some(MountType::VOLUME), source: Some(name), target: Some(path), ..Mount::default() }
    }
}

/// Returns the volumes of a Workshop without storage, one for each source of its material. They end with the Workshop.
pub(crate) fn material_volumes(spec: &WorkshopSpec, fleet_id: &str, name: &str) -> Vec<MaterialVolume> {
    let material = spec.material.iter().filter(|_| spec.storage.is_none());
    let volumes = material.flat_map(|material| {
        material.sources.iter().enumerate().map(move |(place, source)| MaterialVolume {
            name: names::material_volume(fleet_id, name, place),
            path: format!("{}/{}", material.directory, source.target),
        })
    });
    volumes.collect()
}

/// Mounts the volume with the owner's files. The engine copies the image's files at this path into an empty volume.
/// Podman mounts it with `nosuid` and `nodev`. Docker Engine refuses these options. There, the app lacks the privileges to
/// use set-user-ID programs and device files.
pub(super) fn kept(fleet_id: &str, storage: &WorkshopStorage) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(names::volume(fleet_id, &storage.volume)),
        target: Some(storage.path.clone()),
        ..Mount::default()
    }
}

/// Keeps the files of the image out of the volume.
pub(super) fn without_copy(mount: Mount) -> Mount {
    let options = MountVolumeOptions { no_copy: Some(true), ..MountVolumeOptions::default() };
    Mount { volume_options: Some(options), ..mount }
}

/// Mounts a directory of this machine.
pub(super) fn bind(source: &Path, target: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(source.display().to_string()),
        target: Some(target.to_owned()),
        read_only: Some(read_only),
        ..Mount::default()
    }
}

/// Mounts a volume without a name, which the engine removes with the container.
pub(super) fn anonymous(target: &str) -> Mount {
    Mount { typ: Some(MountType::VOLUME), target: Some(target.to_owned()), ..Mount::default() }
}
