//! Failure of a source: one sentence for the students, with the remedy.

use std::io;

use rustix::io::Errno;

/// Failure of a source. The text says what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    /// Creates a failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::other(failure)
    }
}

/// Unwraps a failure that a reader passed on as an error.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if let Some(failure) = find(&error) {
            return failure.clone();
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::new("The answer of the server ended too early: launch the workshop again later.");
        }
        match Errno::from_io_error(&error) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::new("The disk is full: delete files, or ask for more storage."),
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                Self::new(format!("The directory of the material cannot be written: {error}. Ask an admin."))
            }
            _ => Self::new(format!("An error occurred: {error}. Launch the workshop again.")),
        }
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Self::from(io::Error::from(error))
    }
}

/// Returns the failure inside of an error, through all wrappers.
pub fn find(error: &io::Error) -> Option<&Failure> {
    let mut inner: &(dyn std::error::Error + 'static) = error.get_ref()?;
    loop {
        if let Some(failure) = inner.downcast_ref::<Failure>() {
            return Some(failure);
        }
        inner = match inner.downcast_ref::<io::Error>() {
            Some(error) => error.get_ref()?,
            None => inner.source()?,
        };
    }
}
