//! Facts that one section of checks finds, and that checks of other sections need.

use launcher_fleet::doctor::ExampleWorkshop;
use launcher_store::doctor::CatalogNeeds;

use super::clock::Reading;

/// Facts that other checks need from the database.
#[derive(Debug, Clone, Default)]
pub(super) struct DatabaseFacts {
    /// Fleet that the rows of the database are bound to. `Some(None)` if they are unbound, `None` if the query failed.
    pub(super) bound: Option<Option<String>>,
    /// Needs of the templates that people can launch.
    pub(super) catalog: CatalogNeeds,
    pub(super) clock: Option<Reading>,
}

/// Facts that other checks need from the fleet.
#[derive(Debug, Clone, Default)]
pub(super) struct FleetFacts {
    pub(super) identity: Option<String>,
    /// Number of Workshops of the fleet, if known.
    pub(super) workshops: Option<usize>,
    /// Any workshop of the fleet.
    pub(super) example: Option<ExampleWorkshop>,
    pub(super) clock: Option<Reading>,
}

/// Facts that other checks need from the edge proxy.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeProxyFacts {
    /// True if the public address answers this machine. The doctor can then check the workshops' domain from here too.
    pub(super) answers: bool,
}
