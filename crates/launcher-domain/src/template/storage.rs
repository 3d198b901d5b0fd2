//! Storage of a template: the directory whose files outlive a crash of the app, or the workshop.

use serde::{Deserialize, Serialize};

use super::codecs::{MountPath, VolumeSize};
use super::field::json_object;
use super::kinds::AppType;
use super::rule::FieldRule;
use crate::quantity::Quantity;
use crate::text_enum::text_enum;

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

json_object! {
    /// Storage of the user's files: a directory that outlives a crash of the app, or the workshop.
    pub struct Storage {
        /// kept: one volume per user and template, which outlives the workshop. home: one volume per user, for all
        /// templates with this kind. workshop: no volume; the files outlive a crash of the app, and end with the workshop.
        kind: StorageKind = required(StorageKind),
        /// Size of a new volume, as a Kubernetes quantity of at least 1Mi. An existing volume keeps its size. Not used for
        /// the kind workshop.
        size: Quantity = nullable(VolumeSize, "1Gi".into()),
        /// Directory of the app with the files, without `..`, and not below a directory of the system.
        path: String = computed(
            MountPath,
            FieldRule::StoragePathRequired,
            &format!("Default: {}", AppType::defaults(AppType::home))
        ),
        /// Effect of the expiry. end: the workshop ends, and the next launch has its files. suspend: the workshop is
        /// suspended, and its owner can resume it.
        at_expiry: AtExpiry = defaulted(AtExpiry, "end".into()),
    }
}
