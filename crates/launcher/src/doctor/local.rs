//! Checks of the local fleet.

use launcher_fleet::doctor::LocalExamination;

use super::facts::FleetFacts;
use super::report::Finding;
use super::section::Section;
use super::settings::is_for_this_machine;
use crate::serve::fleet::local_settings;
use crate::serve::warnings::NOT_ISOLATED;
use crate::settings::ServeSettings;

pub(super) fn check(settings: &ServeSettings) -> Section<FleetFacts> {
    let mut section = Section::default();
    let Some(examination) = examination(settings) else { return section };
    section.add([use_of_directory(&examination)]);
    match examination.identity() {
        Ok(identity) => section.facts = FleetFacts { identity, workshops: Some(0), ..FleetFacts::default() },
        Err(error) => section.add([Finding::fail("data directory", error.to_string())]),
    }
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
    Some(Finding::warn("isolation", format!("{invitation}, but {NOT_ISOLATED}")))
}

/// Prepares the checks of the local fleet. Returns `None` if the service would not start with these settings: the check
/// of the settings reports that.
pub(super) fn examination(settings: &ServeSettings) -> Option<LocalExamination> {
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
        Some(port) => Finding::ok(CHECK, format!("free ports for workshops exist, for example {port}")),
        None => Finding::fail(CHECK, "no port is free for workshops. Stop the programs that listen on them"),
    }
}
