//! The link to a template that a teacher shares, as text and as a QR code.

use std::fmt::Write;

use launcher_domain::Template;
use qrcode::{Color, EcLevel, QrCode};

use crate::state::AppState;

/// Light modules around a QR code, which scanners need (ISO/IEC 18004).
const QUIET_ZONE: usize = 4;

#[derive(Debug, Clone)]
pub(crate) struct Share {
    pub(crate) url: String,
    /// The QR code; `None` if the URL is too long for one.
    pub(crate) code: Option<Code>,
}

/// A QR code as an SVG path. One unit is one module.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    /// Width and height, with the quiet zone.
    pub(crate) size: usize,
    /// The dark modules, as data of an SVG path.
    pub(crate) path: String,
}

impl Share {
    pub(crate) fn new(state: &AppState, template: &Template) -> Self {
        let url = url(state, template);
        Self { code: Code::new(&url), url }
    }
}

/// Returns the public URL of a template's page: short if the template has a slug.
pub(crate) fn url(state: &AppState, template: &Template) -> String {
    let origin = state.settings.origin();
    match &template.listing.slug {
        Some(slug) => format!("{origin}/go/{slug}"),
        None => format!("{origin}/launch/{}", template.template_id),
    }
}

impl Code {
    pub(crate) fn new(url: &str) -> Option<Self> {
        let code = QrCode::with_error_correction_level(url, EcLevel::M).ok()?;
        let (width, colors) = (code.width(), code.to_colors());
        let mut path = String::new();
        for (y, row) in colors.chunks(width).enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|one, next| one == next) {
                if run[0] == Color::Dark {
                    path.push('M');
                    // Writing to a string does not fail.
                    let _ = write!(path, "{} {}h{}v1h-{}z", x + QUIET_ZONE, y + QUIET_ZONE, run.len(), run.len());
                }
                x += run.len();
            }
        }
        Some(Self { size: width + 2 * QUIET_ZONE, path })
    }
}
