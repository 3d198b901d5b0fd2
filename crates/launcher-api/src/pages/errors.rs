//! Error pages: a text, and a link to continue. The page for unauthenticated requests, for example after signing out,
//! loads no files, because unauthenticated requests get no files.

use std::sync::Arc;

use askama::Template;
use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, StatusCode, Uri};
use launcher_domain::local_path::LocalPath;

use crate::brand::Brand;
use crate::identity::Identity;
use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, forms, page_with};
use crate::problem::{Problem, ProblemCode};
use crate::state::{AppState, Call};

#[derive(Debug, Template)]
#[template(path = "error.html")]
struct ErrorPage {
    t: Language,
    shell: Shell,
    title: Text,
    text: Text,
    /// Request id that the user can give to the administrators; only for server errors.
    request_id: Option<String>,
    /// URL and label of the link with which the user can continue.
    next_link: Option<(String, Text)>,
}

/// The request that an error page answers.
pub(crate) struct Asked {
    t: Language,
    path: String,
    /// True if the browser can open the address again.
    is_get: bool,
    /// Path to open after the login: the requested path if a repeated request is harmless, else the start page.
    back: LocalPath,
}

impl Asked {
    pub(crate) fn of(request: &Request) -> Self {
        let t = Language::of(request.headers());
        let is_get = request.method() == Method::GET;
        let back = request.uri().path_and_query().filter(|_| is_get).map(PathAndQuery::as_str);
        Self { t, path: request.uri().path().to_owned(), is_get, back: forms::return_to(back) }
    }

    /// Turns an error that is no page into one. Keeps the status and the other headers.
    pub(crate) fn answer(
        &self,
        state: &AppState,
        response: Response,
        problem: Option<Problem>,
        request_id: &str,
    ) -> Response {
        let status = response.status();
        if !(status.is_client_error() || status.is_server_error()) || has_page(&response) {
            return response;
        }
        let (mut parts, _) = response.into_parts();
        let page = self.render(state, parts.extensions.get::<Identity>(), status, problem, request_id);
        let (page_parts, body) = page.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        parts.headers.extend(page_parts.headers);
        Response::from_parts(parts, body)
    }

    fn render(
        &self,
        state: &AppState,
        identity: Option<&Identity>,
        status: StatusCode,
        problem: Option<Problem>,
        request_id: &str,
    ) -> Response {
        let t = self.t;
        let request_id = problem.as_ref().filter(|_| status.is_server_error()).map(|_| request_id.to_owned());
        let (title, text, next_link) = self.texts(problem);
        let Some(identity) = identity else {
            let unauthenticated = UnauthenticatedPage { t, brand: Arc::clone(&state.brand), title, text, next_link };
            return unauthenticated.respond(status).unwrap_or_else(|_| status.to_string().into_response());
        };
        let frame = Shell::new(state, &identity.caller, "");
        let shell = if self.is_get { frame } else { frame.returning_to(self.back.as_str()) };
        let error = ErrorPage { t, shell, title, text, request_id, next_link };
        page_with(status, &error).unwrap_or_else(|_| status.to_string().into_response())
    }

    /// Returns title, text and next link of the page.
    fn texts(&self, problem: Option<Problem>) -> (Text, Text, Option<(String, Text)>) {
        let Self { t, path, back, .. } = self;
        let to_workshops = || ("/".to_owned(), t.text("to-workshops"));
        let Some(problem) = problem else { return (t.text("error-other"), Text::default(), Some(to_workshops())) };
        match problem.login_url {
            Some(login_url) if is_path_of(path, &login_url) => (t.text("no-login-title"), t.text("no-login"), None),
            Some(_) if path == SIGNED_OUT => {
                let again = ("/".to_owned(), t.text("sign-in-again"));
                (t.text("signed-out-title"), t.text("signed-out"), Some(again))
            }
            login_url => {
                let (title, text) = t.error(problem.code, problem.detail);
                let sign_in = login_url.map(|url| (sign_in(&url, back), t.text("sign-in")));
                // Without a valid proxy secret, every link of this origin would lead to this error again.
                let is_proven = problem.code != ProblemCode::IdentityUnproven;
                (title, text, sign_in.or_else(|| is_proven.then(to_workshops)))
            }
        }
    }
}

fn sign_in(login_url: &str, back: &LocalPath) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("rd", back.as_str()).finish();
    let joint = if login_url.contains('?') { '&' } else { '?' };
    format!("{login_url}{joint}{query}")
}

/// Returns true if `path` is the path of the login URL. Such a request reaches the launcher only if no auth proxy
/// intercepts it.
fn is_path_of(path: &str, login_url: &str) -> bool {
    login_url.parse::<Uri>().is_ok_and(|login| login.path() == path)
}

/// Maximum characters of an unknown short link that its page shows.
const MAX_LINK: usize = 60;

/// Serves the page of a short link that no template has.
pub(crate) fn unknown_link(visitor: &Visitor, slug: &str) -> PageResult {
    let t = visitor.t;
    let error = ErrorPage {
        t,
        shell: visitor.shell(""),
        title: t.with_one("unknown-link", "link", slug.chars().take(MAX_LINK).collect::<String>()).into(),
        text: t.text("unknown-link-advice"),
        request_id: None,
        next_link: Some(("/".to_owned(), t.text("to-workshops"))),
    };
    page_with(StatusCode::NOT_FOUND, &error)
}

fn has_page(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

#[derive(Debug, Template)]
#[template(path = "unauthenticated.html")]
struct UnauthenticatedPage {
    t: Language,
    brand: Arc<Brand>,
    title: Text,
    text: Text,
    next_link: Option<(String, Text)>,
}

impl UnauthenticatedPage {
    /// Renders the page, with a content security policy that allows its embedded style.
    fn respond(&self, status: StatusCode) -> PageResult {
        let mut response: Response = page_with(status, self)?;
        let policy = HeaderValue::from_str(&self.brand.embedded.policy).map_err(Problem::internal)?;
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }
}

pub(crate) const SIGNED_OUT: &str = "/signed-out";

/// Redirects a user who is still signed in to the start page.
pub(crate) async fn signed_out(_: Call) -> Redirect {
    Redirect::to("/")
}
