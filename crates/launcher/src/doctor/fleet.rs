//! Checks of the fleets of one machine, and checks of the fleet and the database together.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use launcher_domain::AppType;
use launcher_fleet::doctor::{ContainerExamination, LocalExamination};
use launcher_service::ClaimError;

use crate::doctor::report::{DatabaseFacts, Finding, FleetFacts, Section, fail, ok, warning};
use crate::doctor::settings::is_for_this_machine;
use crate::serve::NOT_ISOLATED;
use crate::serve::fleet::{container_settings, local_settings, material_program};
use crate::settings::{FleetKind, ServeSettings};

/// Maximum time in which the program of an app must print its version.
const PROGRAM: Duration = Duration::from_secs(8);

/// Checks that the database is bound to this fleet, and that this machine has the programs of the apps in the catalog.
pub(super) async fn check_with_database(
    settings: ServeSettings,
    rows: DatabaseFacts,
    fleet: FleetFacts,
) -> Section<()> {
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
        FleetKind::Local => local_examination(settings),
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
            Some(ok!(CHECK, "the database is bound to this fleet ({found})"))
        }
        (Some(bound), Some(found)) => Some(Finding::fail(CHECK, ClaimError::AnotherFleet { bound, found }.to_string())),
        (Some(bound), None) if fleet.workshops.is_some() => Some(fail!(
            CHECK,
            "the database is bound to another fleet ({bound}): the data directory has never been used. Set \
             SERVICE_DATA_DIR to the directory of this database, or SERVICE_DATABASE_URL to another database"
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
        return ok!(CHECK, "{shown} places it");
    }
    warning!(
        CHECK,
        "active templates have course material, but {shown} is missing: workshops start without their material. \
         Build it with `cargo build --package launcher-material`, and put it beside the launcher"
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
        Ok(Err(fault)) => fail!(check, "active templates need it, but {fault}. {}", fault.remedy),
        Err(_) => {
            let seconds = PROGRAM.as_secs();
            warning!(check, "it printed no version within {seconds} seconds. Check the load of this machine")
        }
    })
}

pub(super) fn check_local(settings: &ServeSettings) -> Section<FleetFacts> {
    let Some(examination) = local_examination(settings) else { return Section::default() };
    let mut section = Section::from(use_of_directory(&examination));
    add_identity(&mut section, examination.identity());
    section.add([ports(&examination)]);
    section.add(isolation(settings));
    section
}

fn isolation(settings: &ServeSettings) -> Option<Finding> {
    let invitation = match (is_for_this_machine(settings), settings.api.require_authentication) {
        (false, _) => "SERVICE_PUBLIC_URL is for other machines",
        (true, true) => "authentication is required, as for several users",
        (true, false) => return None,
    };
    Some(warning!("isolation", "{invitation}, but {NOT_ISOLATED}"))
}

/// Prepares the checks of the local fleet. Returns `None` if the service would not start with these settings: the check
/// of the settings reports that.
pub(super) fn local_examination(settings: &ServeSettings) -> Option<LocalExamination> {
    let public_url = settings.api.origin().parse().ok()?;
    LocalExamination::new(local_settings(settings, &public_url)).ok()
}

fn use_of_directory(examination: &LocalExamination) -> Finding {
    const CHECK: &str = "data directory";
    match examination.is_in_use() {
        Ok(true) => Finding::ok(CHECK, "a launcher uses it now"),
        Ok(false) => Finding::ok(CHECK, "no launcher uses it now"),
        Err(error) => Finding::fail(CHECK, error.to_string()),
    }
}

fn ports(examination: &LocalExamination) -> Finding {
    const CHECK: &str = "ports";
    match examination.free_port() {
        Some(port) => ok!(CHECK, "free ports for workshops exist, for example {port}"),
        None => Finding::fail(CHECK, "no port is free for workshops. Stop the programs that listen on them"),
    }
}

pub(super) async fn check_containers(settings: &ServeSettings) -> Section<FleetFacts> {
    // The check of the settings reports an invalid public URL.
    let Ok(public_url) = settings.api.origin().parse() else { return Section::default() };
    let Some(containers) = container_settings(settings, &public_url) else {
        return Finding::fail("sidecar image", "SERVICE_SIDECAR_IMAGE is not set: name the image of the sidecars")
            .into();
    };
    let examination = match ContainerExamination::new(containers) {
        Ok(examination) => examination,
        Err(error) => return Finding::fail("container fleet", error.to_string()).into(),
    };
    let mut section = Section::default();
    add_identity(&mut section, examination.identity());
    section.add(engine(&examination).await);
    section
}

/// Adds the identity of the fleet to the facts, or the error of the data directory to the findings.
fn add_identity(section: &mut Section<FleetFacts>, identity: Result<Option<String>, impl Display>) {
    match identity {
        Ok(identity) => section.facts = FleetFacts { identity, workshops: Some(0), ..FleetFacts::default() },
        Err(error) => section.add([Finding::fail("data directory", error.to_string())]),
    }
}

/// Returns the finding about an image of the container fleet.
fn image(check: &'static str, is_present: Result<bool, impl Display>) -> Finding {
    match is_present {
        Ok(true) => Finding::ok(check, "the engine has it"),
        Ok(false) => Finding::warn(check, "the engine does not have it: the first launch pulls it"),
        Err(error) => Finding::fail(check, error.to_string()),
    }
}

/// Checks the engine, its storage and the sidecar's image.
async fn engine(examination: &ContainerExamination) -> Vec<Finding> {
    const ENGINE: &str = "container engine";
    let engine = match examination.engine().await {
        Ok(engine) => engine,
        Err(error) => return vec![Finding::fail(ENGINE, error.to_string())],
    };
    let disk = if engine.limits_disk {
        ok!("disk limit", "the storage driver {} limits each workshop's disk", engine.storage_driver)
    } else {
        warning!(
            "disk limit",
            "the engine cannot limit a workshop's disk with the storage driver {}: one workshop can fill the disk of \
             all. Use Docker with overlay2 on XFS with project quotas (mount option pquota), and restart the launcher",
            engine.storage_driver
        )
    };
    let sidecar = image("sidecar image", examination.has_sidecar_image().await);
    let material = match examination.has_material_image().await.transpose() {
        Some(is_present) => image("material image", is_present),
        None => Finding::ok("material image", "not set: workshops start without course material"),
    };
    let (mib, cpus) = (engine.memory_bytes / (1024 * 1024), engine.cpus);
    let mut findings = vec![ok!(ENGINE, "{}, {mib} MiB of memory, {cpus} CPUs", engine.name), disk, sidecar, material];
    if engine.interrupts_network {
        findings.push(Finding::warn(
            "network",
            "each start or end of a workshop can interrupt the network of the others for half a minute. Write the line \
             net.ipv4.conf.all.arp_notify = 1 into a file in /etc/sysctl.d, and run sysctl --system",
        ));
    }
    findings
}
