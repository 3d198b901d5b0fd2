//! Names and labels of a fleet's containers.
#![cfg_attr(not(feature = "test-containers"), expect(unreachable_pub, reason = "tests with an engine use this module"))]

use std::collections::HashMap;

use launcher_workshop::labels as workshop_labels;

pub(crate) const FLEET_LABEL: &str = "workshoplauncher.dev/fleet";
pub(crate) const WORKSHOP_LABEL: &str = "workshoplauncher.dev/workshop";
pub(crate) const UID_LABEL: &str = "workshoplauncher.dev/uid";
pub(crate) const PART_LABEL: &str = "workshoplauncher.dev/part";
/// Label of a container that only mounts a volume while its files are read. Its value is the identity of the fleet.
/// This container has no [`FLEET_LABEL`], so the search for orphans does not end a long download.
pub(crate) const READER_LABEL: &str = "workshoplauncher.dev/reads-volume-of";
/// Number of characters of the fleet's identity in names. The label has the whole identity.
const SHORT_FLEET_ID: usize = 8;

/// A container of a Workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    App,
    /// The program that places course material. It ends before the app starts.
    Material,
    /// The sidecar, which owns the network namespace of both containers.
    Sidecar,
}

impl Part {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Material => "material",
            Self::Sidecar => "sidecar",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::App, Self::Material, Self::Sidecar].into_iter().find(|part| part.as_str() == text)
    }
}

pub(crate) fn container(fleet_id: &str, workshop: &str, part: Part) -> String {
    format!("wl-{}-{workshop}-{}", short(fleet_id), part.as_str())
}

/// Returns the engine's name of a volume.
///
/// `fleet_id` is the identity of the fleet, to which the rows of volumes in the database belong, and not the identifier of
/// this copy of the data directory. Otherwise the owners would lose their files when an administrator moves the directory
/// to another disk, or restores it on another server.
pub(crate) fn volume(fleet_id: &str, volume: &str) -> String {
    format!("wl-{}-{volume}", short(fleet_id))
}

/// Returns the engine's name of the volume with the course material of one source. `place` is the source's place in the
/// list. Unlike [`volume`], it belongs to a Workshop, and therefore to this copy of the data directory.
pub(crate) fn material_volume(fleet_id: &str, workshop: &str, place: usize) -> String {
    format!("{}-{place}", container(fleet_id, workshop, Part::Material))
}

/// Returns the labels of a volume of the fleet with this identity. The volume belongs to no Workshop, because it outlives them.
pub(crate) fn volume_labels(fleet_id: &str) -> HashMap<String, String> {
    let own = (FLEET_LABEL.to_owned(), fleet_id.to_owned());
    workshop_labels().into_iter().chain([own]).collect()
}

pub(crate) fn container_labels(fleet_id: &str, workshop: &str, uid: &str, part: Part) -> HashMap<String, String> {
    let own = [(FLEET_LABEL, fleet_id), (WORKSHOP_LABEL, workshop), (UID_LABEL, uid), (PART_LABEL, part.as_str())];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    workshop_labels().into_iter().chain(own).collect()
}

/// Returns the labels of the container that shows if the engine can limit disk space. It belongs to no Workshop, so the
/// fleet removes it if it is left.
pub(crate) fn disk_limit_labels(fleet_id: &str) -> HashMap<String, String> {
    container_labels(fleet_id, "disk-limit", "none", Part::App)
}

/// Returns the last characters of the fleet's identity. In a UUID of version 7, the first characters are the time, and the
/// last are random.
fn short(fleet_id: &str) -> String {
    let valid: Vec<char> = fleet_id.chars().filter(char::is_ascii_alphanumeric).collect();
    let last = valid.len().saturating_sub(SHORT_FLEET_ID);
    valid[last..].iter().map(char::to_ascii_lowercase).collect()
}
