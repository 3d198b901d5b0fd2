//! Faults that a test injects into the calls of its fleet.

/// The fault of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and returns an error.
    Unavailable,
    /// The call takes effect but returns an error.
    ErrorAfterSuccess,
    /// The call takes effect but never returns.
    HangAfterSuccess,
    /// The call does nothing and never returns.
    Hang,
    /// The fleet refuses the Workshop: a retry cannot succeed.
    Refused,
}
