//! Who is calling: read once per request, before anything else is looked at.

mod unproven;

use std::iter::Map;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::identity::{IdentityError, TrustedHeader};
use launcher_domain::{Caller, EmailAddress};
use launcher_service::ServiceError;

use crate::problem::{Problem, ProblemCode};
use crate::settings::ApiSettings;
use crate::state::AppState;

pub(crate) use unproven::UnprovenLog;

/// The header that carries the provider's name for the caller.
const USER_HEADER: &str = "x-auth-request-user";

/// Who is calling. A handler that takes it has a caller: the middleware has refused everybody else.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The person.
    pub(crate) caller: Caller,
    /// The login provider's name for the person. For show only.
    pub(crate) user: Option<String>,
}

/// Refuses a request without exactly one readable identity; lets the others through with theirs.
pub(crate) async fn require(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let settings = &state.settings;
    let email = match read(settings, request.headers()) {
        Ok(email) => email,
        // An identity that nobody can read is none; one that is there twice is an attempt at something.
        Err(error @ (IdentityError::Missing | IdentityError::Unreadable(_))) => {
            let detail = format!("Log in first: {error}.");
            let problem = Problem::new(ProblemCode::AuthenticationRequired, detail);
            return problem.login_at(settings.login_url.clone()).into_response();
        }
        Err(IdentityError::Unproven) => return state.unproven.refuse().into_response(),
        Err(error) => return Problem::new(ProblemCode::IdentityInvalid, error.to_string()).into_response(),
    };
    let identity = Identity { caller: settings.admins.caller(email), user: user(settings, request.headers()) };
    request.extensions_mut().insert(identity.clone());
    let mut response = next.run(request).await;
    // An error that becomes a page still shows who is signed in.
    response.extensions_mut().insert(identity);
    response
}

fn read(settings: &ApiSettings, headers: &HeaderMap) -> Result<EmailAddress, IdentityError> {
    if let Some(email) = &settings.dev_identity {
        return Ok(email.clone());
    }
    settings.trusted_header.read_proven(settings.proxy_secret.as_ref(), Lines(headers))
}

/// The header lines of a request, as often as they are asked for.
#[derive(Debug, Clone, Copy)]
struct Lines<'a>(&'a HeaderMap);

type Line<'a> = (&'a [u8], &'a [u8]);

impl<'a> IntoIterator for Lines<'a> {
    type Item = Line<'a>;
    type IntoIter = Map<http::header::Iter<'a, HeaderValue>, fn((&'a HeaderName, &'a HeaderValue)) -> Line<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()))
    }
}

/// The provider's name for the caller. Under another trusted header than the default, nobody is known to strip this one.
fn user(settings: &ApiSettings, headers: &HeaderMap) -> Option<String> {
    if settings.dev_identity.is_some() || settings.trusted_header != TrustedHeader::default() {
        return None;
    }
    let mut lines = headers.get_all(USER_HEADER).iter();
    let text = lines.next()?.to_str().ok()?.trim();
    (lines.next().is_none() && (1..=254).contains(&text.len())).then(|| text.to_owned())
}

/// An identity of which only the person matters.
#[derive(Debug, Clone)]
pub(crate) struct Identified(pub(crate) Caller);

impl FromRequestParts<AppState> for Identified {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        Identity::from_request_parts(parts, state).await.map(|identity| Self(identity.caller))
    }
}

impl FromRequestParts<AppState> for Identity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| Problem::internal("a route is not behind the identity middleware"))
    }
}

/// Refuses what the caller may not do.
///
/// # Errors
/// 403, or 404 where the caller may not even know that it exists.
pub(crate) fn permit(caller: &Caller, action: Action<'_>) -> Result<(), Problem> {
    match decide(caller, action) {
        Verdict::Granted => Ok(()),
        Verdict::Hidden => Err(Problem::not_found()),
        Verdict::Forbidden => Err(ServiceError::Forbidden.into()),
    }
}

/// An identity that may manage templates: taken before a body, so that nobody else learns anything from it.
#[derive(Debug, Clone)]
pub(crate) struct TemplateManager(pub(crate) Caller);

impl FromRequestParts<AppState> for TemplateManager {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Identified(caller) = Identified::from_request_parts(parts, state).await?;
        permit(&caller, Action::ManageTemplates)?;
        Ok(Self(caller))
    }
}

/// An identity that may read who did what.
#[derive(Debug, Clone)]
pub(crate) struct Auditor(pub(crate) Caller);

impl FromRequestParts<AppState> for Auditor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Identified(caller) = Identified::from_request_parts(parts, state).await?;
        permit(&caller, Action::ReadActivities)?;
        Ok(Self(caller))
    }
}

/// An identity that may see everybody's instances.
#[derive(Debug, Clone)]
pub(crate) struct Overseer(pub(crate) Caller);

impl FromRequestParts<AppState> for Overseer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Identified(caller) = Identified::from_request_parts(parts, state).await?;
        permit(&caller, Action::ListAllInstances)?;
        Ok(Self(caller))
    }
}
