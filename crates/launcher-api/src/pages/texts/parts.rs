//! Texts into which a template inserts a value.

/// A sentence around a value, such as a time or a name. A template adds the value and its HTML.
pub(crate) struct Around {
    /// Text before the value, with the space at its end.
    pub(crate) before: &'static str,
    /// Text after the value, with the space at its start.
    pub(crate) after: &'static str,
}

/// Label and hint of a field in a form.
pub(crate) struct Label {
    pub(crate) label: &'static str,
    /// A sentence below the field; empty if the field has none.
    pub(crate) hint: &'static str,
}

/// A part of an activity log entry. Each language chooses the order of the text and the two values, to which a template
/// adds HTML.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    /// Link to the instance or template that the entry is about, with its name.
    Subject,
    /// New expiry of an extended instance.
    Until,
}
