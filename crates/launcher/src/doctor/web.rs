//! HTTP and HTTPS client that sends requests like a browser, and follows no redirect.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use launcher_domain::messages::innermost;
use tokio::time::timeout;

/// Timeout for a response including its body.
const ANSWER: Duration = Duration::from_secs(4);
/// Maximum size of a response body, in bytes. A larger body counts as empty.
const BODY: usize = 256 << 10;

/// HTTP client that trusts this machine's certificate authorities, or those in SSL_CERT_FILE.
pub(super) struct WebClient(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

/// A response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// Target of a redirect, from the header `Location`.
    pub(super) location: Option<String>,
    /// Body of the response; empty if it was too large or incomplete.
    body: Bytes,
}

/// Reasons why a request got no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum WebFault {
    /// The certificate is for another name, or outside its validity period. Browsers refuse such a certificate.
    #[error("its {0}")]
    Certificate(String),
    /// This machine does not know the authority that issued the certificate. A browser may know it.
    #[error("its certificate is not trusted here ({0}); SSL_CERT_FILE can name its authority")]
    Authority(String),
    /// The connection failed, or the server did not answer with HTTP.
    #[error("{0}")]
    Unreachable(String),
}

impl WebClient {
    /// # Errors
    /// Fails if this machine has no CA certificates.
    pub(super) fn new() -> std::io::Result<Self> {
        let connector = HttpsConnectorBuilder::new().with_native_roots()?.https_or_http().enable_http1().build();
        Ok(Self(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector)))
    }

    /// Sends a GET request with these header lines.
    pub(super) async fn get(&self, url: &str, lines: &[(&str, &str)]) -> Result<Answer, WebFault> {
        let mut request = Request::get(url).header(header::USER_AGENT, "launcher-doctor");
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        let request = request.body(Empty::new()).map_err(|error| WebFault::Unreachable(error.to_string()))?;
        let answer = async {
            let answer = self.0.request(request).await.map_err(|error| fault(&error))?;
            let location = answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let (status, location) = (answer.status(), location.map(str::to_owned));
            let body = Limited::new(answer.into_body(), BODY).collect().await.map(|body| body.to_bytes());
            Ok(Answer { status, location, body: body.unwrap_or_default() })
        };
        let silent = || WebFault::Unreachable(format!("no response within {} seconds", ANSWER.as_secs()));
        timeout(ANSWER, answer).await.unwrap_or_else(|_| Err(silent()))
    }
}

impl Answer {
    /// Returns the caller's e-mail address if the launcher's `/me` answered; `None` for any other response.
    pub(super) fn person(&self) -> Option<String> {
        let said: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        let _is_admin = said.get("is_admin")?.as_bool()?;
        said.get("email")?.as_str().filter(|_| self.status.is_success()).map(str::to_owned)
    }

    /// Returns true if the response redirects (to a login), or refuses the request.
    pub(super) fn is_refusal(&self) -> bool {
        self.status.is_redirection() || matches!(self.status.as_u16(), 400 | 401 | 403)
    }
}

fn fault(error: &dyn Error) -> WebFault {
    let said = innermost(error);
    match said.split_once("invalid peer certificate: ") {
        Some((_, problem)) if problem.starts_with("certificate ") => WebFault::Certificate(problem.to_owned()),
        Some((_, problem)) => WebFault::Authority(problem.to_owned()),
        None => WebFault::Unreachable(said),
    }
}
