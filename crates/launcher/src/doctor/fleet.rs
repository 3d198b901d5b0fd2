//! Checks that need both database and fleet: they belong together, and the apps in the catalog can run here.

use std::time::Duration;

use launcher_domain::AppType;
use launcher_fleet::doctor::LocalExamination;
use launcher_service::ClaimError;

use super::clock::Reading;
use super::report::Finding;
use super::{Section, database, local};
use crate::settings::{FleetKind, ServeSettings};

/// Timeout for a program to print its version.
const PROGRAM: Duration = Duration::from_secs(8);

/// Facts that other checks need from the fleet.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) identity: Option<String>,
    /// Number of its Workshops, if known.
    pub(super) workshops: Option<usize>,
    /// URL of one of its workshops.
    pub(super) url: Option<String>,
    pub(super) clock: Option<Reading>,
}

pub(super) async fn check(settings: ServeSettings, rows: database::Facts, fleet: Facts) -> Section<()> {
    let mut section = Section::default();
    section.add(belonging(&rows, &fleet));
    if settings.fleet == FleetKind::Local
        && let Some(examination) = local::examination(&settings)
    {
        let needed = async |app| if rows.apps.contains(&app) { program(&examination, app).await } else { None };
        let (jupyter, rstudio) = tokio::join!(needed(AppType::Notebook), needed(AppType::Rstudio));
        section.add(jupyter.into_iter().chain(rstudio));
    }
    section
}

/// Checks that the database is bound to this fleet. Otherwise the service does not start: rows of another fleet would
/// look lost, and Workshops of another database orphaned.
fn belonging(rows: &database::Facts, fleet: &Facts) -> Option<Finding> {
    const CHECK: &str = "belonging";
    let bound = rows.bound.clone()?;
    match (bound, fleet.identity.clone()) {
        (Some(bound), Some(found)) if bound == found => {
            Some(Finding::ok(CHECK, format!("the database belongs to this fleet ({found})")))
        }
        (Some(bound), Some(found)) => Some(Finding::fail(CHECK, ClaimError::AnotherFleet { bound, found }.to_string())),
        (Some(bound), None) if fleet.workshops.is_some() => Some(Finding::fail(
            CHECK,
            format!(
                "the database belongs to a fleet ({bound}), and the data directory to none: its workshops do not run \
                 here. Set SERVICE_DATA_DIR to the directory that it was used with, or SERVICE_DATABASE_URL to another"
            ),
        )),
        (None, _) => fleet
            .workshops
            .filter(|workshops| *workshops > 0)
            .map(|workshops| Finding::fail(CHECK, ClaimError::NewDatabase { workshops }.to_string())),
        (Some(_), None) => None,
    }
}

async fn program(examination: &LocalExamination, app: AppType) -> Option<Finding> {
    let check = match app {
        AppType::Notebook => "JupyterLab",
        AppType::Rstudio => "RStudio Server",
        AppType::Custom => return None,
    };
    Some(match tokio::time::timeout(PROGRAM, examination.version(app)).await {
        Ok(Ok(version)) => Finding::ok(check, version?),
        Ok(Err(fault)) => Finding::fail(check, format!("templates need it, and {fault}. {}", fault.remedy)),
        Err(_) => {
            let seconds = PROGRAM.as_secs();
            Finding::warn(
                check,
                format!("it does not say its version within {seconds} seconds. Is this machine overloaded?"),
            )
        }
    })
}
