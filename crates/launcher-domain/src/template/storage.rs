//! Storage of a template: the directory whose files outlive a crash of the app, or the workshop.

use serde::{Deserialize, Serialize};

use super::app_type::AppType;
use super::field_error::Errors;
use super::rule::FieldRule;
use crate::quantity::Quantity;
use crate::text_enum::text_enum;

/// Default size of a volume.
const SIZE: &str = "1Gi";
/// Minimum size of a volume: 1 MiB, in thousandths of a byte.
const LEAST_SIZE_MILLI: u128 = 1000 << 20;
const MAX_PATH_BYTES: usize = 255;
/// Maximum characters of a wrong size that its error repeats.
const SHOWN_CHARACTERS: usize = 40;
/// Directories that a volume must not hide: the app would not start, or the container would lose its protection.
const SYSTEM_DIRECTORIES: [&str; 14] =
    ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "tmp", "usr"];

text_enum! {
    /// Lifetime of the files, and the launches that share them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum StorageKind {
        /// No volume: the files outlive a crash of the app, and end with the workshop.
        Workshop = "workshop",
        /// One volume per user and template.
        Kept = "kept",
        /// One volume per user. All templates with this kind share it.
        Home = "home",
    }
}

impl StorageKind {
    /// True if the files are in a volume that outlives the workshop.
    #[must_use]
    pub fn is_kept(self) -> bool {
        match self {
            Self::Kept | Self::Home => true,
            Self::Workshop => false,
        }
    }
}

text_enum! {
    /// Effect of the expiry of a workshop.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum AtExpiry {
        /// The expiry ends the workshop.
        #[default]
        End = "end",
        /// The expiry suspends the workshop: its owner can resume it.
        Suspend = "suspend",
    }
}

impl AtExpiry {
    /// True for the default.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Validated storage of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Lifetime of the files, and the launches that share them.
    pub kind: StorageKind,
    /// Size of a new volume, at least 1 MiB. An existing volume keeps its size. Without a volume, the size is not used.
    pub size: Quantity,
    /// Directory of the app with the files; at most 255 bytes.
    pub path: String,
    /// Effect of the expiry of a workshop. The default is not stored: the settings of earlier versions keep their hash.
    #[serde(default, skip_serializing_if = "AtExpiry::is_default")]
    pub at_expiry: AtExpiry,
}

/// Storage as an admin writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageDraft {
    /// Lifetime of the files, and the launches that share them.
    pub kind: StorageKind,
    /// Size of a new volume as a Kubernetes quantity; default `1Gi`.
    #[serde(default)]
    pub size: Option<String>,
    /// Directory of the app with the files. The default is the home directory of the stock image; a
    /// `custom` app requires a path.
    #[serde(default)]
    pub path: Option<String>,
    /// Effect of the expiry of a workshop; default: the workshop ends.
    #[serde(default)]
    pub at_expiry: AtExpiry,
}

impl StorageDraft {
    /// Returns the storage; `None` after an error.
    pub(super) fn validated(self, app_type: AppType, errors: &mut Errors) -> Option<Storage> {
        let size = size(&self.size.unwrap_or_else(|| SIZE.to_owned()), errors);
        let path = path(self.path.as_deref(), app_type, errors);
        Some(Storage { kind: self.kind, size: size?, path: path?, at_expiry: self.at_expiry })
    }
}

impl From<Storage> for StorageDraft {
    fn from(storage: Storage) -> Self {
        let Storage { kind, size, path, at_expiry } = storage;
        Self { kind, size: Some(size.into()), path: Some(path), at_expiry }
    }
}

fn size(text: &str, errors: &mut Errors) -> Option<Quantity> {
    let size = Quantity::parse(text).ok().filter(|size| size.milli() >= LEAST_SIZE_MILLI);
    if size.is_none() {
        let text: String = text.chars().take(SHOWN_CHARACTERS).collect();
        errors.add("/storage/size", FieldRule::StorageSize { text: format!("{text:?}") });
    }
    size
}

fn path(given: Option<&str>, app_type: AppType, errors: &mut Errors) -> Option<String> {
    let path = match given.map(str::trim).filter(|path| !path.is_empty()) {
        Some(path) => path.trim_end_matches('/').to_owned(),
        None => match app_type.home() {
            Some(home) => home.to_owned(),
            None => {
                errors.add("/storage/path", FieldRule::StoragePathRequired);
                return None;
            }
        },
    };
    if is_mount_path(&path) {
        return Some(path);
    }
    errors.add("/storage/path", FieldRule::StoragePath);
    None
}

/// True if a volume can be mounted at this path: an absolute path without `.`, `..`, empty parts, colons, commas and
/// control characters, outside of the system's directories.
#[must_use]
pub fn is_mount_path(path: &str) -> bool {
    let Some(relative) = path.strip_prefix('/') else { return false };
    let is_part = |part: &str| !["", ".", ".."].contains(&part);
    let is_allowed = |character: char| !character.is_control() && ![':', ','].contains(&character);
    let top = relative.split('/').next().unwrap_or_default();
    path.len() <= MAX_PATH_BYTES
        && path.chars().all(is_allowed)
        && relative.split('/').all(is_part)
        && !SYSTEM_DIRECTORIES.contains(&top)
}
