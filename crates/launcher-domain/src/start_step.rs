//! Steps of a workshop's start, reported until the workshop is ready.

use crate::text_enum::text_enum;

text_enum! {
    /// Step of a workshop's start. The variants are in the order in which they occur.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum StartStep {
        /// The pod waits, because no node has room at the moment.
        WaitingForRoom = "waiting-for-room",
        /// The cluster assigns a node to the workshop, and sets up its network and files.
        Preparing = "preparing",
        /// The node pulls the image. The first pull on a node can take minutes.
        PullingImage = "pulling-image",
        /// The course material is downloaded.
        LoadingMaterial = "loading-material",
        /// The app runs but does not answer yet.
        StartingApp = "starting-app",
        /// The app exited, and the fleet restarts it.
        RestartingApp = "restarting-app",
    }
}
