//! Pages that the gateway serves on a workshop's origin when no app can answer.

use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFRESH, RETRY_AFTER, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use launcher_process::serve::Body;
use launcher_sidecar::notice::{Notice, POLICY};
use launcher_sidecar::texts::{Language, NoticeText};
use launcher_workshop::{Phase, Workshop};

use crate::machine::origins::OriginSettings;

/// Reload interval of the page of a starting workshop, in seconds.
const RELOAD_SECONDS: HeaderValue = HeaderValue::from_static("2");

/// The pages for one request, in the language and the format that its client prefers.
#[derive(Debug)]
pub(super) struct Pages {
    language: Language,
    /// True for HTML pages, false for plain text.
    is_html: bool,
    /// URL of the launcher, to which each page links.
    launcher: String,
}

impl Pages {
    /// Creates the pages for a request with these headers.
    pub(super) fn new(settings: &OriginSettings, headers: &HeaderMap) -> Self {
        let language = headers.get(ACCEPT_LANGUAGE).map(|value| Language::preferred(value.as_bytes()));
        let accepted = headers.get(ACCEPT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        Self {
            language: language.unwrap_or_default(),
            is_html: accepted
                .is_none_or(|accepted| ["text/html", "text/*", "*/*"].iter().any(|one| accepted.contains(one))),
            launcher: settings.launcher_url(),
        }
    }

    /// The page for a workshop that does not exist.
    pub(super) fn unknown(&self) -> Response<Body> {
        self.notice(StatusCode::NOT_FOUND, self.language.texts().unknown)
    }

    /// The page for a caller who is not the owner, or for a missing workshop. It must not reveal which of the two is
    /// true.
    pub(super) fn forbidden(&self) -> Response<Body> {
        self.notice(StatusCode::FORBIDDEN, self.language.texts().not_yours)
    }

    /// The page for an app that answered with invalid HTTP, or that has just exited.
    pub(super) fn broken(&self) -> Response<Body> {
        self.notice(StatusCode::BAD_GATEWAY, self.language.texts().no_answer)
    }

    /// The page for an app that is starting, has failed or has ended.
    pub(super) fn not_running(&self, workshop: Workshop) -> Response<Body> {
        let (status, texts) = (workshop.status.unwrap_or_default(), self.language.texts());
        match status.phase {
            _ if workshop.metadata.deletion_timestamp.is_some() => self.unavailable(texts.terminated),
            Phase::Pending | Phase::Starting | Phase::Running => {
                let mut response = self.unavailable(texts.starting);
                response.headers_mut().insert(REFRESH, RELOAD_SECONDS);
                response.headers_mut().insert(RETRY_AFTER, RELOAD_SECONDS);
                response
            }
            Phase::Failed => {
                let NoticeText { title, text } = texts.failed;
                let text = status.message.as_deref().unwrap_or(text);
                self.page(StatusCode::SERVICE_UNAVAILABLE, title, text, status.remedy.as_deref())
            }
            Phase::Expired => self.unavailable(texts.expired),
        }
    }

    fn unavailable(&self, text: NoticeText) -> Response<Body> {
        self.notice(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    fn notice(&self, status: StatusCode, NoticeText { title, text }: NoticeText) -> Response<Body> {
        self.page(status, title, text, None)
    }

    fn page(&self, status: StatusCode, title: &str, text: &str, remedy: Option<&str>) -> Response<Body> {
        let launcher = Some(self.launcher.as_str());
        let notice = Notice { language: self.language, title, text, remedy, launcher, reload_seconds: None };
        let (media, body) = if self.is_html {
            ("text/html; charset=utf-8", notice.html())
        } else {
            ("text/plain; charset=utf-8", notice.line())
        };
        let mut response = Response::new(Full::from(body).map_err(|never| match never {}).boxed_unsync());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Language"));
        response
    }
}
