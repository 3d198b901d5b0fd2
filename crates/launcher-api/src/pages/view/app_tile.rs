//! The tinted tile with an icon that stands for an app.

use launcher_domain::template::{Color, Icon};

use crate::assets;

/// A tile with the icon of an app. Without a chosen colour, equal names have equal colours, so that people recognize their app.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppTile {
    /// Path of the icon, as in [`assets::icon_path`].
    pub(crate) icon: &'static str,
    /// Colour, for which the style sheet has a class.
    pub(crate) color: Color,
}

impl AppTile {
    pub(crate) fn new(name: &str, icon: Icon, chosen: Option<Color>) -> Self {
        // FNV-1a spreads similar names, such as "Lab 1" and "Lab 2".
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let of_name = Color::ALL[hash as usize % Color::ALL.len()];
        Self { icon: assets::icon_path(icon), color: chosen.unwrap_or(of_name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheet_has_a_hue_for_each_color() {
        let style = include_str!("../../../assets/app.css");
        for color in Color::ALL {
            assert!(style.contains(&format!("\n.hue-{} {{ --hue: ", color.as_str())), "{color:?}");
        }
    }
}
