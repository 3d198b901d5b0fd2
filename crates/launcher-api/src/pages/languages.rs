//! The choice of the language, in a form of every page.

use http::header::REFERER;
use http::{HeaderMap, Uri};
use serde::Deserialize;

use crate::pages::{Fields, Language, PageResult, Visitor, forms};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageForm {
    /// Code of the chosen language. An unknown code changes nothing.
    language: String,
    /// Path of the page to open. Without it, the page opens again on which the reader chose the language.
    return_to: Option<String>,
}

/// `POST /language`: remembers the language, then opens the page on which the reader chose it, or the page that this page
/// names.
pub(crate) async fn choose(visitor: Visitor, headers: HeaderMap, Fields(form): Fields<LanguageForm>) -> PageResult {
    let page = form.return_to.or_else(|| page_of(&headers));
    let mut response = forms::redirect(forms::return_to(page.as_deref()).as_str());
    if let Some(language) = Language::with_code(&form.language) {
        let (name, value) = language.cookie(visitor.settings.is_https());
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// Returns path and query of the page that sent the form. Browsers name only pages of this site, because of the
/// `Referrer-Policy` of every page.
fn page_of(headers: &HeaderMap) -> Option<String> {
    let page: Uri = headers.get(REFERER)?.to_str().ok()?.parse().ok()?;
    Some(page.path_and_query()?.to_string())
}
