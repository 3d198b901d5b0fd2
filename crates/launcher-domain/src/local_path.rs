//! Redirect targets for a browser: paths of this site only.

use serde::{Deserialize, Serialize};

use crate::frame_path::PREFIX;
use crate::text_enum::text_conversions;

/// A path on this site, with its query. It is safe as a redirect target in a `Location` header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LocalPath(String);

impl LocalPath {
    /// Maximum length of a path with its query, in bytes.
    pub const MAX_BYTES: usize = 2048;

    /// Accepts a text of at most [`Self::MAX_BYTES`] that starts with exactly one `/` and has only visible ASCII characters
    /// without a backslash.
    ///
    /// Returns `None` for other texts: browsers read `//host`, `/\host` and `/<tab>/host` as another site, and
    /// `javascript:` as a program.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        (visible && text.len() <= Self::MAX_BYTES && text.starts_with('/') && !text.starts_with("//"))
            .then(|| Self(text.to_owned()))
    }

    /// Accepts a path of a workshop's app: not one that the sidecar answers itself.
    #[must_use]
    pub fn parse_of_app(text: &str) -> Option<Self> {
        Self::parse(text).filter(|path| !path.as_str().starts_with(PREFIX))
    }

    /// The start page.
    #[must_use]
    pub fn root() -> Self {
        Self("/".to_owned())
    }

    /// Returns the path as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_conversions!(LocalPath.0, &'static str, |text| LocalPath::parse(text).ok_or("expected a path of this site"));
