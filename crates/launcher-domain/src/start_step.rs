//! What a workshop that is not ready yet is waiting for.

/// How far a start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartStep {
    /// No machine has room for it at the moment.
    WaitingForRoom,
    /// It gets a machine, its network, its files.
    Preparing,
    /// The machine fetches its image; the first time this takes a while.
    PullingImage,
    /// Its app runs and does not answer yet.
    StartingApp,
    /// Its app ended, and is started once more.
    RestartingApp,
}

impl StartStep {
    /// All of them, in the order of a start.
    pub const ALL: [Self; 5] =
        [Self::WaitingForRoom, Self::Preparing, Self::PullingImage, Self::StartingApp, Self::RestartingApp];

    /// The step as it is stored and sent.
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

    /// Reads a step.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == text)
    }
}
