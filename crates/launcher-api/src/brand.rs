//! The brand of the installation: its name, its style sheet with the accent colour, and its logo.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use launcher_domain::brand::{AccentColor, BrandName, Shades};
use sha2::{Digest, Sha256};

use crate::assets::{self, Asset};

/// Maximum size of a logo, in bytes. The first view of each user loads it.
const MAX_LOGO: usize = 64 * 1024;

/// Settings of the brand. The comment of a field is its help text.
#[derive(Debug, Clone, Default, Args)]
pub struct BrandSettings {
    /// Name of this installation in pages, titles and bars, up to 32 characters; default: Workshop Launcher
    #[arg(long = "brand-name", env = "SERVICE_BRAND_NAME", value_name = "NAME", value_parser = BrandName::parse)]
    pub name: Option<BrandName>,

    /// SVG or PNG file with the logo, up to 64 KiB; default: the logo of the product
    #[arg(long = "brand-logo", env = "SERVICE_BRAND_LOGO", value_name = "FILE", value_parser = Logo::read)]
    pub logo: Option<Logo>,

    /// Accent colour as #rrggbb; white text on it must have a contrast of at least 4.5 : 1; default: #0b6e63
    #[arg(long = "brand-color", env = "SERVICE_BRAND_COLOR", value_name = "COLOR", value_parser = AccentColor::parse)]
    pub color: Option<AccentColor>,
}

/// A logo: the content of an SVG or PNG file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo {
    extension: &'static str,
    content_type: &'static str,
    content: Arc<[u8]>,
}

impl Logo {
    fn read(path: &str) -> Result<Self, String> {
        let content = std::fs::read(path).map_err(|error| format!("the file cannot be read: {error}"))?;
        if content.len() > MAX_LOGO {
            return Err(format!("the file has {} bytes; write the name of a file of at most 64 KiB", content.len()));
        }
        let (extension, content_type) = if content.starts_with(b"\x89PNG\r\n\x1a\n") {
            ("png", "image/png")
        } else if std::str::from_utf8(&content).is_ok_and(|text| text.contains("<svg")) {
            ("svg", assets::SVG)
        } else {
            return Err("the file is no SVG and no PNG; write the name of such a file".to_owned());
        };
        Ok(Self { extension, content_type, content: content.into() })
    }
}

#[derive(Debug)]
pub(crate) struct Brand {
    name: Option<BrandName>,
    pub(crate) style: Asset,
    /// The logo, which is also the icon of the browser's tab.
    pub(crate) icon: Asset,
    pub(crate) embedded: EmbeddedStyle,
}

#[derive(Debug)]
pub(crate) struct EmbeddedStyle {
    pub(crate) text: String,
    /// Content security policy of the page. It allows only the embedded style.
    pub(crate) policy: String,
}

impl Brand {
    pub(crate) fn new(BrandSettings { name, logo, color }: &BrandSettings) -> Self {
        let style = [assets::STYLE, color.map(properties).unwrap_or_default().as_bytes()].concat();
        let icon = match logo {
            Some(Logo { extension, content_type, content }) => {
                Asset::new("logo", extension, content_type, content.to_vec())
            }
            None => Asset::new("icon", "svg", assets::SVG, assets::ICON.to_vec()),
        };
        Self {
            name: name.clone(),
            style: Asset::new("app", "css", assets::CSS, style),
            icon,
            embedded: EmbeddedStyle::new(*color),
        }
    }

    /// Returns the name of the installation, or else this name of the product.
    pub(crate) fn name_or(&self, product: Cow<'static, str>) -> Cow<'static, str> {
        self.name.as_ref().map_or(product, |name| name.to_string().into())
    }
}

impl EmbeddedStyle {
    fn new(color: Option<AccentColor>) -> Self {
        let mut text = include_str!("../templates/unauthenticated.css").to_owned();
        if let Some((light, dark)) = color.map(|color| (color.light(), color.dark())) {
            text.push_str(&format!(
                "a {{ background: light-dark({}, {}); color: light-dark({}, {}); }}\n",
                light.accent, dark.accent, light.on_accent, dark.on_accent
            ));
        }
        let hash = BASE64_STANDARD.encode(Sha256::digest(&text));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{hash}'; form-action 'none'; base-uri 'none'; \
             frame-ancestors 'none'"
        );
        Self { text, policy }
    }
}

/// Returns the CSS rules that replace the accent colour of the style sheet, in both schemes.
fn properties(color: AccentColor) -> String {
    let rule = |Shades { accent, strong, on_accent }: Shades| {
        format!(":root {{ --accent: {accent}; --accent-strong: {strong}; --on-accent: {on_accent}; }}\n")
    };
    let (light, dark) = (rule(color.light()), rule(color.dark()));
    format!("\n{light}@media screen and (prefers-color-scheme: dark) {{ {dark}}}\n")
}
