//! Where a browser may be sent back to: a path of this site, never another site.

/// A path on this site, with its query, safe to put into `Location`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPath(String);

impl LocalPath {
    /// Takes a text that starts with exactly one `/` and has only visible ASCII characters without a backslash.
    ///
    /// Browsers read `//host`, `/\host` and `/<tab>/host` as another site, and `javascript:` as a program: `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        (visible && text.len() <= 2048 && text.starts_with('/') && !text.starts_with("//"))
            .then(|| Self(text.to_owned()))
    }

    /// The start page.
    #[must_use]
    pub fn root() -> Self {
        Self("/".to_owned())
    }

    /// The path as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
