//! The tinted tile with an icon that stands for an app.

use launcher_domain::template::Icon;

use crate::assets;

/// Number of hues in the style sheet, as the classes `hue-0` to `hue-11`.
const HUES: u32 = 12;

/// A tile with the icon of an app. Equal names have equal hues, so that people recognize their app.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppTile {
    /// Path of the icon, as in [`assets::icon_path`].
    pub(crate) icon: &'static str,
    /// Number of the CSS class.
    pub(crate) hue: u32,
}

impl AppTile {
    pub(crate) fn new(name: &str, icon: Icon) -> Self {
        // FNV-1a spreads similar names, such as "Lab 1" and "Lab 2".
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        Self { icon: assets::icon_path(icon), hue: hash % HUES }
    }
}
