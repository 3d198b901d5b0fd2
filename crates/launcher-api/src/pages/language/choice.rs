//! The reader's language: chosen in the footer and remembered in a cookie, or negotiated with the browser.

use fluent_langneg::{LanguageIdentifier, NegotiationStrategy, negotiate_languages};
use http::header::{ACCEPT_LANGUAGE, COOKIE as COOKIE_HEADER};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Language;
use super::locale::LOCALES;

/// Name of the cookie with the code of the chosen language.
const COOKIE: &str = "language";
/// Time for which the browser remembers the choice, in seconds: one year.
const REMEMBERED_SECONDS: u32 = 365 * 24 * 3600;
/// Maximum length of `Accept-Language` in bytes. Browsers send far less.
const MAX_ACCEPT_LANGUAGE: usize = 1000;

/// Returns the language of the reader's cookie.
pub(super) fn remembered(headers: &HeaderMap) -> Option<Language> {
    headers
        .get_all(COOKIE_HEADER)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .find_map(|(_, code)| Language::with_code(code))
}

/// Returns the best language for the browser's `Accept-Language` (RFC 9110, 12.5.4).
pub(super) fn negotiated(headers: &HeaderMap) -> Option<Language> {
    let accepted = headers.get(ACCEPT_LANGUAGE)?.to_str().ok().filter(|text| text.len() <= MAX_ACCEPT_LANGUAGE)?;
    let requested: Vec<LanguageIdentifier> =
        accept_language::parse(accepted).iter().filter_map(|code| code.parse().ok()).collect();
    let available: Vec<LanguageIdentifier> = LOCALES.iter().filter_map(|locale| locale.code.parse().ok()).collect();
    let found = negotiate_languages(&requested, &available, None, NegotiationStrategy::Lookup);
    Language::with_code(&found.first()?.to_string())
}

/// Returns the header that makes the browser remember a language.
pub(crate) fn remember(language: Language, is_https: bool) -> (HeaderName, HeaderValue) {
    let secure = if is_https { "; Secure" } else { "" };
    let code = language.code();
    let cookie = format!("{COOKIE}={code}; Path=/; Max-Age={REMEMBERED_SECONDS}; HttpOnly; SameSite=Lax{secure}");
    // A language code has only letters, digits and hyphens, which are valid in a header.
    let value = HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""));
    (http::header::SET_COOKIE, value)
}
