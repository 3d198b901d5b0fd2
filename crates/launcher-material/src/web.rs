//! Requests by http and https: redirects, timeouts, and failures in plain words.

mod failures;

use std::io::BufReader;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use ureq::RequestBuilder;
use ureq::http::{Response, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};
use url::Url;

use crate::failure::Failure;
use crate::limits::{CONNECT, Limits, REDIRECTS, SILENCE};
use crate::meter::{Meter, Metered};
use crate::secret::Secret;

use failures::{Access, Translated, connection, proxied, status};

/// Body of an answer.
pub(crate) type Reader<'a> = BufReader<Metered<'a, Translated>>;

/// Size of the buffer of a body. Connections have their own, smaller buffer.
const BUFFER: usize = 64 << 10;

/// Client of one source.
#[derive(Debug)]
pub(crate) struct Web<'a> {
    agent: Agent,
    meter: &'a Meter,
    limits: &'a Limits,
    /// Secret of a private source.
    secret: Option<Secret>,
}

/// Successful answer.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    /// URL after all redirects.
    pub(crate) url: Url,
    /// Header `Content-Type`.
    pub(crate) content_type: String,
    /// Body.
    pub(crate) body: Reader<'a>,
}

impl<'a> Web<'a> {
    /// Creates a client whose requests end at the deadline. Requests to the server of the source have the password of the
    /// secret. The environment variable `ALL_PROXY` names an HTTP proxy, and `NO_PROXY` the hosts without it.
    #[must_use]
    pub(crate) fn new(meter: &'a Meter, limits: &'a Limits, deadline: Instant, secret: Option<Secret>) -> Self {
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(ROOTS.clone()).build())
            .http_status_as_error(false)
            // This module follows redirects itself, because it forbids some.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Some servers answer only programs that call themselves git.
            .user_agent(concat!("git/launcher-material-", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(deadline.saturating_duration_since(Instant::now())))
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(SILENCE))
            .timeout_per_write(Some(SILENCE))
            .build();
        Self { agent: config.new_agent(), meter, limits, secret }
    }

    /// Secret of a private source.
    pub(crate) fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    /// Sends a GET request, and follows redirects.
    ///
    /// # Errors
    /// The server cannot be reached, or does not answer with success.
    pub(crate) fn get(&self, url: &Url, headers: &[(&str, &str)]) -> Result<Answer<'a>, Failure> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            self.meter.advance()?;
            let request = self.prepared(self.agent.get(url.as_str()), &url, headers)?;
            let response = request.call().map_err(|error| self.failure(&url, &error))?;
            match redirect(&url, &response)? {
                Some(next) => url = next,
                None => return self.answer(url, response),
            }
        }
        Err(Failure::new(format!("{} redirects too often: check the URL.", failures::host(&url))))
    }

    /// Sends a POST request. Redirects are failures, because the redirect of an earlier GET request applies.
    ///
    /// # Errors
    /// The server cannot be reached, or does not answer with success.
    pub(crate) fn post(&self, url: &Url, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer<'a>, Failure> {
        self.meter.advance()?;
        let request = self.prepared(self.agent.post(url.as_str()), url, headers)?;
        let response = request.send(body).map_err(|error| self.failure(url, &error))?;
        self.answer(url.clone(), response)
    }

    /// Adds the headers to a request, and the password if the request is for the server of the source. Each redirect is a
    /// new request.
    fn prepared<B>(
        &self,
        mut request: RequestBuilder<B>,
        url: &Url,
        headers: &[(&str, &str)],
    ) -> Result<RequestBuilder<B>, Failure> {
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let authorization = self.secret.as_ref().map(|secret| secret.authorization(url)).transpose()?.flatten();
        Ok(match authorization {
            Some(value) => request.header(header::AUTHORIZATION, value),
            None => request,
        })
    }

    fn failure(&self, url: &Url, error: &ureq::Error) -> Failure {
        let proxy = self.agent.config().proxy().filter(|proxy| {
            let uri = url.as_str().parse();
            uri.is_ok_and(|uri| !proxy.is_no_proxy(&uri))
        });
        proxy.map_or_else(|| connection(url, error), |proxy| proxied(proxy.host(), url, error))
    }

    fn access(&self, url: &Url) -> Access<'_> {
        match &self.secret {
            None => Access::Public,
            Some(secret) if secret.is_for(url) => Access::Secret(secret.name()),
            Some(secret) => Access::OtherServer(secret.name()),
        }
    }

    fn answer(&self, url: Url, response: Response<Body>) -> Result<Answer<'a>, Failure> {
        self.meter.advance()?;
        status(&url, response.status().as_u16(), self.access(&url))?;
        let content_type = text(&response, header::CONTENT_TYPE).unwrap_or_default();
        let reader = response.into_body().into_with_config().limit(u64::MAX).reader();
        let metered =
            Metered::new(Translated::new(reader, &url), self.meter, self.limits.total_bytes, self.limits.too_large());
        Ok(Answer { body: BufReader::with_capacity(BUFFER, metered), url, content_type })
    }
}

/// Certificates of authorities: those of the system, else those of Mozilla. The variables `SSL_CERT_FILE` and
/// `SSL_CERT_DIR` name other ones.
static ROOTS: LazyLock<RootCerts> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return RootCerts::WebPki;
    }
    RootCerts::Specific(Arc::new(found.iter().map(|found| Certificate::from_der(found).to_owned()).collect()))
});

/// Returns the target of a redirect.
fn redirect(url: &Url, response: &Response<Body>) -> Result<Option<Url>, Failure> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let host = failures::host(url);
    let location = text(response, header::LOCATION).and_then(|location| url.join(&location).ok());
    let Some(next) = location else {
        return Err(Failure::new(format!("{host} redirects to an invalid address: check the URL.")));
    };
    match (url.scheme(), next.scheme()) {
        (_, "https") | ("http", "http") => Ok(Some(next)),
        ("https", "http") => Err(Failure::new(format!(
            "{host} redirects from https to http, which is refused: ask the teacher for an https URL."
        ))),
        (_, scheme) => {
            Err(Failure::new(format!("{host} redirects to a {scheme} address, which is refused: check the URL.")))
        }
    }
}

fn text(response: &Response<Body>, name: header::HeaderName) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}
