//! Every word that a person reads on the pages: those of the templates, of the handlers and of the script.
//!
//! A language is a file with its folder: [`en`]. Another one is a copy of the two with other words; the compiler says
//! what it lacks. Sentences with values are functions, or [`Around`] what a template marks up, so that plurals and the
//! order of words are the language's own. A test reads the templates, the script and the pages' code, and fails when
//! words stand in them.

mod en;

pub(crate) use en::*;

/// A sentence around a value that the template marks up: a time, a name.
pub(crate) struct Around {
    /// With the space that it ends in.
    pub(crate) before: &'static str,
    /// With the space that it begins with.
    pub(crate) after: &'static str,
}

/// A field of a form.
pub(crate) struct Label {
    pub(crate) label: &'static str,
    /// A sentence below it; none when empty.
    pub(crate) hint: &'static str,
}

/// A part of a line of the activity log. The line's words come in any order around the two that the template marks up.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    /// The name of what was done something to, as a link.
    Subject,
    /// The new end of an extension.
    Until,
}
