//! The identity of the caller. The middleware reads it once per request, before any other part of the request. It
//! refuses identity headers without a valid proxy secret.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::request::Parts;
use launcher_domain::identity::{IdentityError, TrustedHeader};
use launcher_domain::{Caller, EmailAddress, ProxySecret};

use crate::problem::{Problem, ProblemCode};
use crate::settings::ApiSettings;
use crate::state::AppState;

/// Header with the login provider's name for the caller.
const USER_HEADER: &str = "x-auth-request-user";

/// The identity of the caller. Every handler that extracts it has a caller, because the middleware refuses other
/// requests.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) caller: Caller,
    /// The login provider's name for the caller. For display only.
    pub(crate) user: Option<String>,
}

/// Refuses a request without exactly one readable identity. Attaches the identity to every other request.
pub(crate) async fn require(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let settings = &state.settings;
    let email = match identify(settings, state.process.proxy_secret.as_ref(), request.headers()) {
        Ok(email) => email,
        // An unreadable identity counts as absent. A repeated identity may be an attack, so it is reported as invalid.
        Err(error @ (IdentityError::Missing | IdentityError::Unreadable(_))) => {
            let detail = format!("Log in first: {error}.");
            let problem = Problem::new(ProblemCode::AuthenticationRequired, detail);
            return problem.login_at(settings.login_url.clone()).into_response();
        }
        Err(IdentityError::Unproven) => return state.unproven.refuse().into_response(),
        Err(error) => return Problem::new(ProblemCode::IdentityInvalid, error.to_string()).into_response(),
    };
    let caller = settings.class_creators.grant(settings.admin_emails.caller(email));
    let identity = Identity { caller, user: user(settings, request.headers()) };
    request.extensions_mut().insert(identity.clone());
    let mut response = next.run(request).await;
    // Attach the identity to the response too, because error pages show the signed-in person.
    response.extensions_mut().insert(identity);
    response
}

/// Returns the identity of the caller: the development identity, or the one of a proven header.
pub(crate) fn identify(
    settings: &ApiSettings,
    proxy_secret: Option<&ProxySecret>,
    headers: &HeaderMap,
) -> Result<EmailAddress, IdentityError> {
    if let Some(email) = settings.bypass() {
        return Ok(email.clone());
    }
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())).collect();
    settings.trusted_auth_header.read_verified(proxy_secret, lines.iter().copied())
}

/// Returns the login provider's name for the caller. Returns `None` if the trusted header is not the default: the auth
/// proxy may not remove a forged [`USER_HEADER`] then.
fn user(settings: &ApiSettings, headers: &HeaderMap) -> Option<String> {
    if settings.bypass().is_some() || settings.trusted_auth_header != TrustedHeader::default() {
        return None;
    }
    let mut lines = headers.get_all(USER_HEADER).iter();
    let text = lines.next()?.to_str().ok()?.trim();
    (lines.next().is_none() && (1..=254).contains(&text.len())).then(|| text.to_owned())
}

impl<S: Send + Sync> FromRequestParts<S> for Identity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| Problem::internal("a route is not behind the identity middleware"))
    }
}

/// Number of refusals that are logged as warnings. Later refusals are logged at the level debug.
const WARNINGS: u64 = 10;

/// Counts the requests that this process has refused because of the proxy secret. Clones share the count.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnprovenLog(Arc<AtomicU64>);

impl UnprovenLog {
    /// Logs the refusal of one request, and returns the problem. The log entry contains neither the identity nor the
    /// secret. The request's span contains the request id and the path.
    pub(crate) fn refuse(&self) -> Problem {
        let refused = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if refused <= WARNINGS {
            tracing::warn!(
                refused,
                "refused identity header without valid X-Auth-Request-Proof: the request bypassed the auth proxy, or \
                 the auth proxy sends a secret that is not in SERVICE_PROXY_SECRET_FILE"
            );
        } else {
            tracing::debug!(refused, "refused identity header without valid X-Auth-Request-Proof");
        }
        let detail = "The request has an identity, but it did not come through the auth proxy: X-Auth-Request-Proof is \
                      missing or wrong. Use the service's public address. If you already did, the auth proxy and the \
                      service have different proxy secrets. `launcher doctor` checks this.";
        Problem::new(ProblemCode::IdentityUnproven, detail)
    }
}
