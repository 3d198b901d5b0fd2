//! Sentences of the pages that depend on a value of the domain, such as a state or a duration. Every other text is a
//! message that a template or handler names by its key.

mod activity;
mod counts;
mod errors;
mod kinds;
mod overview;
mod units;

pub(crate) use activity::Part;
pub(crate) use errors::sentence;
