//! The reader's language: chosen in the footer and remembered in a cookie, or negotiated with the browser.

use fluent_langneg::{LanguageIdentifier, NegotiationStrategy, negotiate_languages};
use http::header::{ACCEPT_LANGUAGE, COOKIE as COOKIE_HEADER, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use launcher_domain::accept_language::{MAX_WEIGHT, weight};

use super::Language;

const COOKIE: &str = "language";
/// Time for which the browser remembers the choice, in seconds: one year.
const REMEMBERED_SECONDS: u32 = 365 * 24 * 3600;
/// Maximum length of `Accept-Language` in bytes. Browsers send far less.
const MAX_ACCEPT_LANGUAGE: usize = 1000;

impl Language {
    /// Returns the language that the reader chose earlier.
    pub(crate) fn chosen(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(COOKIE_HEADER).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        Self::with_code(pairs.find(|(name, _)| *name == COOKIE)?.1)
    }

    /// Returns the header that makes the browser remember this language.
    pub(crate) fn cookie(self, is_https: bool) -> (HeaderName, HeaderValue) {
        let (code, secure) = (self.code(), if is_https { "; Secure" } else { "" });
        let cookie = format!("{COOKIE}={code}; Path=/; Max-Age={REMEMBERED_SECONDS}; HttpOnly; SameSite=Lax{secure}");
        // A language code has only letters, digits and hyphens, which are valid in a header.
        (SET_COOKIE, HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static("")))
    }
}

/// Returns the best of the codes for the browser's `Accept-Language` (RFC 9110, 12.5.4).
pub(super) fn negotiated(headers: &HeaderMap, codes: impl Iterator<Item = &'static str>) -> Option<String> {
    let accepted = headers.get(ACCEPT_LANGUAGE)?.to_str().ok().filter(|text| text.len() <= MAX_ACCEPT_LANGUAGE)?;
    let requested: Vec<LanguageIdentifier> =
        preferred(accepted).into_iter().filter_map(|tag| tag.parse().ok()).collect();
    let available: Vec<LanguageIdentifier> = codes.filter_map(|code| code.parse().ok()).collect();
    let found = negotiate_languages(&requested, &available, None, NegotiationStrategy::Lookup);
    found.first().map(ToString::to_string)
}

/// Returns the language tags of an `Accept-Language`, most preferred first. A tag with the weight 0 or an invalid weight
/// is not acceptable.
fn preferred(accepted: &str) -> Vec<&str> {
    let weighted = accepted.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let tag = parts.next().filter(|tag| !tag.is_empty())?;
        let preference =
            parts.find_map(|part| part.strip_prefix("q=")).map_or(MAX_WEIGHT, |text| weight(text.as_bytes()));
        (preference > 0).then_some((preference, tag))
    });
    let mut weighted: Vec<(u16, &str)> = weighted.collect();
    weighted.sort_by_key(|(preference, _)| std::cmp::Reverse(*preference));
    weighted.into_iter().map(|(_, tag)| tag).collect()
}
