//! All text of the pages: in templates, handlers and the script.
//!
//! A language is a file with its folder: [`en`]. A new language is a translated copy of both; the compiler reports
//! missing texts. Sentences with values are functions, or [`Around`] if a template marks up the value. Plurals and word
//! order are therefore up to the language. A test reads the templates, the script and the pages' code, and fails if
//! they contain text.

mod en;

pub(crate) use en::*;

/// A sentence around a value that the template marks up: a time, a name.
pub(crate) struct Around {
    /// Including the space at its end.
    pub(crate) before: &'static str,
    /// Including the space at its start.
    pub(crate) after: &'static str,
}

/// A field of a form.
pub(crate) struct Label {
    pub(crate) label: &'static str,
    /// A sentence below the field; empty for none.
    pub(crate) hint: &'static str,
}

/// A part of an activity log entry. Text may come in any order around the two values that the template marks up.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    /// Name of the entry's subject (an instance or a template), as a link.
    Subject,
    /// New expiry of an extension.
    Until,
}
