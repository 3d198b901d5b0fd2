//! Steps of a start, for a workshop that is not ready yet.

/// Step of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartStep {
    /// No node has room at the moment.
    WaitingForRoom,
    /// The workshop gets its node, network and files.
    Preparing,
    /// The node pulls the image; the first time this takes a while.
    PullingImage,
    /// The app runs but does not answer yet.
    StartingApp,
    /// The app exited and is restarted.
    RestartingApp,
}

impl StartStep {
    /// All steps, in the order of a start.
    pub const ALL: [Self; 5] =
        [Self::WaitingForRoom, Self::Preparing, Self::PullingImage, Self::StartingApp, Self::RestartingApp];

    /// Returns the step as stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForRoom => "waiting-for-room",
            Self::Preparing => "preparing",
            Self::PullingImage => "pulling-image",
            Self::StartingApp => "starting-app",
            Self::RestartingApp => "restarting-app",
        }
    }

    /// Parses a step.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == text)
    }
}
