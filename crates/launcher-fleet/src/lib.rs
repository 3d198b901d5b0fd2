//! The port [`Fleet`], which turns Workshops into running workloads, and its adapters: Kubernetes, containers and processes
//! on one machine.

mod byte_stream;
mod containers;
mod kubernetes;
mod local;
mod machine;
mod port;
mod restore;
mod source_check;

pub use byte_stream::{ByteStream, STREAM_BYTES, written_by};
pub use containers::{ContainerFleet, ContainerOptions, ContainerSettings};
pub use kubernetes::KubernetesFleet;
pub use local::{LocalFleet, LocalPrograms, LocalSettings, keeper};
pub use machine::{
    DataDirError, Gateway, MachineFleetError, MachineSettings, OriginSettings, Unserved, notice_response, own_response,
};
pub use port::{
    Archives, Deletion, Fleet, FleetError, FleetEvent, ImageState, Images, MAX_READ_WAIT, ReadError, SavedFiles,
    SavedFilesError, SourceChecks,
};
pub use source_check::SourceChecker;

/// For `launcher doctor`: examines a fleet without changing it.
pub mod doctor {
    pub use crate::containers::{ContainerExamination, ExaminedEngine};
    pub use crate::kubernetes::{
        ApiServer, Definition, ExampleWorkshop, KubernetesExamination, Leader, MemoryKill, PendingWorkshops,
    };
    pub use crate::local::{LocalExamination, ProgramFault};
}

/// For the tests with a container engine.
#[cfg(feature = "test-containers")]
pub use containers::tested as engine;
