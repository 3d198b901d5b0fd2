//! Table of instances with the bulk actions: part of the list of all instances and of a class.

use super::sorting::Head;
use crate::pages::view::WorkshopView;

/// Maximum number of instances in one request of the bulk form. No list shows more rows.
pub(super) const MAX_INSTANCES: usize = 500;

/// Data of `admin/instance_table.html`.
#[derive(Debug)]
pub(super) struct InstanceTable {
    pub(super) heads: Vec<Head>,
    pub(super) workshops: Vec<WorkshopView>,
    /// True if the table has a column with the template's name.
    pub(super) shows_template: bool,
    /// Path and query of the page, which the forms in the table return to.
    pub(super) here: String,
}
