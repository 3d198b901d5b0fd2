//! Paths of a fleet's files.

use std::path::{Path, PathBuf};

use launcher_domain::material_source::SECRETS_FOLDER;

/// The paths below the data directory.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    data_dir: PathBuf,
}

impl Layout {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned() }
    }

    /// The lock file, which is locked while a fleet is open.
    pub(crate) fn lock(&self) -> PathBuf {
        self.data_dir.join("fleet/lock")
    }

    /// The file with the fleet's identity.
    pub(crate) fn id(&self) -> PathBuf {
        self.data_dir.join("fleet/id")
    }

    /// The file with the identity of the data directory.
    pub(crate) fn data_dir_identity(&self) -> PathBuf {
        self.data_dir.join("fleet/place.json")
    }

    /// The seccomp profile, for a container engine that reads it from a file.
    pub(crate) fn seccomp(&self) -> PathBuf {
        self.data_dir.join("fleet/seccomp.json")
    }

    /// The directory with one state directory per Workshop.
    pub(crate) fn records(&self) -> PathBuf {
        self.data_dir.join("fleet/workshops")
    }

    /// The state directory of one Workshop.
    pub(crate) fn record(&self, name: &str) -> PathBuf {
        self.records().join(name)
    }

    /// The file with the record of one Workshop.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.record(name).join("state.json")
    }

    /// The log file with the output of the app's processes.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.record(name).join("app.log")
    }

    /// The directory for the app's internal files: configuration, data, sockets.
    pub(crate) fn app(&self, name: &str) -> PathBuf {
        self.record(name).join("app")
    }

    /// The directory with one working directory per Workshop.
    pub(crate) fn workings(&self) -> PathBuf {
        self.data_dir.join("workshops")
    }

    /// The directory of one volume, with the kept files of its owner.
    pub(crate) fn volume(&self, volume: &str) -> PathBuf {
        self.data_dir.join("volumes").join(volume)
    }

    /// The directory with one directory per secret of course material, which the administrator creates.
    pub(crate) fn material_secrets(&self) -> PathBuf {
        self.data_dir.join(SECRETS_FOLDER)
    }

    /// The working directory of the app's processes without a volume, with the owner's files.
    pub(crate) fn working(&self, name: &str) -> PathBuf {
        self.workings().join(name)
    }
}
