//! English texts of the pages.

mod activity;
pub(crate) mod editor;
mod errors;
mod extend;
pub(crate) mod fields;
mod frame;
mod instances;
mod kinds;
mod notices;
pub(crate) mod overview;
mod share;
mod units;
mod waiting;
mod workshops;

pub(crate) use activity::*;
pub(crate) use errors::*;
pub(crate) use extend::*;
pub(crate) use frame::*;
pub(crate) use instances::*;
pub(crate) use kinds::*;
pub(crate) use notices::*;
pub(crate) use share::*;
pub(crate) use units::*;
pub(crate) use waiting::*;
pub(crate) use workshops::*;

/// Code of the language, for `<html lang>` and the script's `Intl`.
pub(crate) const LANGUAGE: &str = "en";

/// Link to the older entries of a list.
pub(crate) const OLDER: &str = "Older";
/// Name of a filter for screen readers.
pub(crate) const FILTER: &str = "Filter";
/// Button that applies a filter.
pub(crate) const FILTER_SHOW: &str = "Show";
/// Link that clears a filter.
pub(crate) const FILTER_RESET: &str = "Reset";
/// Placeholder of the input field for an e-mail address.
pub(crate) const ADDRESS_EXAMPLE: &str = "name@example.org";
