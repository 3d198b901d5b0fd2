//! Messages of errors and of other programs, in one line.

use std::error::Error;
use std::fmt;
use std::iter::successors;

/// Maximum characters of a message of another program.
const MAX_SENTENCE: usize = 300;

/// Formats an error with all its causes. Without this type, a JSON log has only the outermost error.
#[derive(Debug)]
pub struct ErrorChain<'e>(pub &'e (dyn Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut messages: Vec<String> = Vec::new();
        for error in successors(Some(self.0), |&error| error.source()) {
            let message = error.to_string();
            // Many errors repeat the message of their cause.
            if !messages.iter().any(|known| known.contains(&message)) {
                messages.push(message);
            }
        }
        f.write_str(&messages.join(": "))
    }
}

/// Returns the message of the innermost cause, for errors whose outer messages do not explain the failure.
#[must_use]
pub fn innermost(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

/// Shortens a message of another program to one line of at most 300 characters.
#[must_use]
pub fn sentence(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_SENTENCE { line } else { line.chars().take(MAX_SENTENCE).chain(['…']).collect() }
}
