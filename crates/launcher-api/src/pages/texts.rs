//! All text of the pages: for templates, handlers and the script.
//!
//! A build has one language: [`en`], a file with a folder. To replace the language, translate a copy of both: the
//! compiler reports missing texts. A sentence with values is a function, or [`parts::Around`] if a template adds HTML
//! to the value. Plurals and word order are therefore part of the language. A test reads the templates, the script and
//! the code of the pages, and fails if they contain text.

mod en;
mod parts;

pub(crate) use en::*;
pub(crate) use parts::{Label, Part};
