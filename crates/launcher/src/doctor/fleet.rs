//! Checks that need facts about the database and the fleet: the database is bound to this fleet, and this machine has
//! the programs of the apps in the catalog.

use std::path::Path;
use std::time::Duration;

use launcher_domain::AppType;
use launcher_fleet::doctor::LocalExamination;
use launcher_service::ClaimError;

use super::facts::{DatabaseFacts, FleetFacts};
use super::local;
use super::report::Finding;
use super::section::Section;
use crate::serve::fleet::material_program;
use crate::settings::{FleetKind, ServeSettings};

/// Maximum time in which the program of an app must print its version.
const PROGRAM: Duration = Duration::from_secs(8);

pub(super) async fn check(settings: ServeSettings, rows: DatabaseFacts, fleet: FleetFacts) -> Section<()> {
    let mut section = Section::default();
    section.add(belonging(&rows, &fleet));
    if let Some(examination) = programs_of(&settings) {
        let needed = async |app| if rows.catalog.apps.contains(&app) { program(&examination, app).await } else { None };
        let (jupyter, rstudio) = tokio::join!(needed(AppType::Notebook), needed(AppType::Rstudio));
        section.add(jupyter.into_iter().chain(rstudio));
        section.add(rows.catalog.material.then(|| material(&material_program())));
    }
    section
}

/// Returns the examination of this machine's programs. Returns `None` for fleets whose apps run from images.
fn programs_of(settings: &ServeSettings) -> Option<LocalExamination> {
    match settings.fleet {
        FleetKind::Local => local::examination(settings),
        FleetKind::Containers | FleetKind::Kubernetes => None,
    }
}

/// Checks that the database is bound to this fleet. Otherwise the service does not start: the rows of another fleet
/// would look lost, and the Workshops of another database would look orphaned.
fn belonging(rows: &DatabaseFacts, fleet: &FleetFacts) -> Option<Finding> {
    const CHECK: &str = "fleet binding";
    let bound = rows.bound.clone()?;
    match (bound, fleet.identity.clone()) {
        (Some(bound), Some(found)) if bound == found => {
            Some(Finding::ok(CHECK, format!("the database is bound to this fleet ({found})")))
        }
        (Some(bound), Some(found)) => Some(Finding::fail(CHECK, ClaimError::AnotherFleet { bound, found }.to_string())),
        (Some(bound), None) if fleet.workshops.is_some() => Some(Finding::fail(
            CHECK,
            format!(
                "the database is bound to another fleet ({bound}): the data directory has never been used. Set \
                 SERVICE_DATA_DIR to the directory of this database, or SERVICE_DATABASE_URL to another database"
            ),
        )),
        (None, _) => fleet
            .workshops
            .filter(|workshops| *workshops > 0)
            .map(|workshops| Finding::fail(CHECK, ClaimError::NewDatabase { workshops }.to_string())),
        (Some(_), None) => None,
    }
}

/// Checks the program that places course material. Workshops also start without it.
fn material(program: &Path) -> Finding {
    const CHECK: &str = "course material";
    let shown = program.display();
    if program.is_file() {
        return Finding::ok(CHECK, format!("{shown} places it"));
    }
    Finding::warn(
        CHECK,
        format!(
            "active templates have course material, but {shown} is missing: workshops start without their material. \
             Build it with `cargo build --package launcher-material`, and put it beside the launcher"
        ),
    )
}

async fn program(examination: &LocalExamination, app: AppType) -> Option<Finding> {
    let check = match app {
        AppType::Notebook => "JupyterLab",
        AppType::Rstudio => "RStudio Server",
        AppType::Custom => return None,
    };
    Some(match tokio::time::timeout(PROGRAM, examination.version(app)).await {
        Ok(Ok(version)) => Finding::ok(check, version?),
        Ok(Err(fault)) => Finding::fail(check, format!("active templates need it, but {fault}. {}", fault.remedy)),
        Err(_) => {
            let seconds = PROGRAM.as_secs();
            Finding::warn(
                check,
                format!("it printed no version within {seconds} seconds. Check the load of this machine"),
            )
        }
    })
}
