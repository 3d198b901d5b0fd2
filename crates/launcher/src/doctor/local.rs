//! Checks of the local fleet.

use launcher_fleet::doctor::LocalExamination;

use super::Section;
use super::fleet::Facts;
use super::report::Finding;
use super::settings::is_for_this_machine;
use crate::serve;
use crate::settings::ServeSettings;

pub(super) fn check(settings: &ServeSettings) -> Section<Facts> {
    let mut section = Section::default();
    let Some(examination) = examination(settings) else { return section };
    section.add([use_of_directory(&examination)]);
    match examination.identity() {
        Ok(identity) => section.facts = Facts { identity, workshops: Some(0), ..Facts::default() },
        Err(error) => section.add([Finding::fail("data directory", error.to_string())]),
    }
    section.add([ports(&examination)]);
    section.add(isolation(settings));
    section
}

fn isolation(settings: &ServeSettings) -> Option<Finding> {
    let invitation = match (is_for_this_machine(settings), settings.require_authentication) {
        (false, _) => "SERVICE_PUBLIC_URL invites others",
        (true, true) => "authentication is required, as for several people",
        (true, false) => return None,
    };
    Some(Finding::warn("isolation", format!("{invitation}, but {}", serve::NOT_ISOLATED)))
}

/// Returns `None` if the service would not start with these settings. The check of the settings reports that.
pub(super) fn examination(settings: &ServeSettings) -> Option<LocalExamination> {
    let public_url = settings.public_url.as_deref().unwrap_or("http://localhost").parse().ok()?;
    LocalExamination::new(serve::local(settings, &public_url)).ok()
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
        Some(port) => Finding::ok(CHECK, format!("there are free ones for workshops, as {port}")),
        None => Finding::fail(CHECK, "every port that a workshop may have is taken. End what listens on so many"),
    }
}
