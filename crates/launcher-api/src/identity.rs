//! The caller's identity, read once per request, before any other part of the request.

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

/// The caller's identity. Handlers that extract it always have a caller: the middleware refuses other requests.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The person.
    pub(crate) caller: Caller,
    /// The login provider's name for the person. For display only.
    pub(crate) user: Option<String>,
}

/// Refuses a request without exactly one readable identity, and attaches the identity to all others.
pub(crate) async fn require(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let settings = &state.settings;
    let email = match read(settings, request.headers()) {
        Ok(email) => email,
        // An unreadable identity counts as absent. A repeated one may be an attack, and is reported as invalid.
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
    // Error pages show the signed-in person as well.
    response.extensions_mut().insert(identity);
    response
}

fn read(settings: &ApiSettings, headers: &HeaderMap) -> Result<EmailAddress, IdentityError> {
    if let Some(email) = &settings.dev_identity {
        return Ok(email.clone());
    }
    settings.trusted_header.read_verified(settings.proxy_secret.as_ref(), Lines(headers))
}

/// The header lines of a request. They can be iterated repeatedly.
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

/// Returns the provider's name for the caller. Ignored with another trusted header than the default, because the proxy
/// may not strip this one then.
fn user(settings: &ApiSettings, headers: &HeaderMap) -> Option<String> {
    if settings.dev_identity.is_some() || settings.trusted_header != TrustedHeader::default() {
        return None;
    }
    let mut lines = headers.get_all(USER_HEADER).iter();
    let text = lines.next()?.to_str().ok()?.trim();
    (lines.next().is_none() && (1..=254).contains(&text.len())).then(|| text.to_owned())
}

/// The caller, without the display name.
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

/// Checks an action of the caller.
///
/// # Errors
/// 403 if it is forbidden, 404 if the caller may not know that the object exists.
pub(crate) fn permit(caller: &Caller, action: Action<'_>) -> Result<(), Problem> {
    match decide(caller, action) {
        Verdict::Granted => Ok(()),
        Verdict::Hidden => Err(Problem::not_found()),
        Verdict::Forbidden => Err(ServiceError::Forbidden.into()),
    }
}

/// A caller who may manage templates. Extracted before the body, so that other callers learn nothing from body errors.
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

/// A caller who may read the activity log.
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

/// A caller who may list all instances.
#[derive(Debug, Clone)]
pub(crate) struct InstanceAdmin(pub(crate) Caller);

impl FromRequestParts<AppState> for InstanceAdmin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Identified(caller) = Identified::from_request_parts(parts, state).await?;
        permit(&caller, Action::ListAllInstances)?;
        Ok(Self(caller))
    }
}
