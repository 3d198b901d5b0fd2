//! Redirect targets for a browser: paths of this site only.

/// A path on this site, with its query. It is safe as a redirect target in a `Location` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPath(String);

impl LocalPath {
    /// Accepts a text of at most 2048 bytes that starts with exactly one `/` and has only visible ASCII characters
    /// without a backslash.
    ///
    /// Returns `None` for other texts: browsers read `//host`, `/\host` and `/<tab>/host` as another site, and
    /// `javascript:` as a program.
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

    /// Returns the path as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
