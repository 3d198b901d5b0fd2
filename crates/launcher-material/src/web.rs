//! Requests by http and https: redirects, timeouts, and failures in plain words.

use std::io::{self, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use launcher_domain::network::{Network, is_forbidden};
use ureq::config::Config;
use ureq::http::{Response, Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, BodyReader, Error, RequestBuilder};
use url::Url;

use crate::failure::Failure;
use crate::limits::{CONNECT, Limits, REDIRECTS, SILENCE};
use crate::meter::{Meter, Metered};
use crate::secret::Secret;

/// Body of an answer.
pub(crate) type Reader<'a> = BufReader<Metered<'a, Translated>>;

/// Size of the buffer of a body. Connections have their own, smaller buffer.
const BUFFER: usize = 64 << 10;

/// Any port.
const DISCARD_PORT: u16 = 9;

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
    pub(crate) body: Reader<'a>,
}

/// Servers that a client reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// All servers of the network.
    All,
    /// Only servers with addresses that a workshop can reach: public ones of version 4, outside of these networks.
    Public { except: Vec<Network> },
}

/// Resolver that drops addresses which a workshop must not reach, also those after redirects.
#[derive(Debug, Default)]
struct PublicResolver {
    resolver: DefaultResolver,
    except: Vec<Network>,
}

impl PublicResolver {
    fn allows(&self, address: IpAddr) -> bool {
        let IpAddr::V4(address) = address else { return false };
        !is_forbidden(address) && !self.except.iter().any(|network| network.contains(&address)) && !is_own(address)
    }
}

/// True for an address of this machine. Its programs may listen at a public address, protected only by a firewall that does
/// not see connections of the machine to itself.
fn is_own(address: Ipv4Addr) -> bool {
    // A connection to an own address has this address at both ends. No packet is sent.
    let source = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect((address, DISCARD_PORT))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

/// Error: the host has addresses, but none that workshops reach.
#[derive(Debug, thiserror::Error)]
#[error("no address of the host can be reached")]
struct NoPublicAddress;

impl Resolver for PublicResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut public = self.empty();
        for address in self.resolver.resolve(uri, config, timeout)?.iter() {
            if self.allows(address.ip()) {
                public.push(*address);
            }
        }
        if public.is_empty() { Err(Error::Other(NoPublicAddress.into())) } else { Ok(public) }
    }
}

impl<'a> Web<'a> {
    /// Creates a client whose requests end at the deadline. Requests to the server of the source have the password of the
    /// secret. The environment variable `ALL_PROXY` names an HTTP proxy, and `NO_PROXY` the hosts without it.
    #[must_use]
    pub(crate) fn new(
        reach: &Reach,
        meter: &'a Meter,
        limits: &'a Limits,
        deadline: Instant,
        secret: Option<Secret>,
    ) -> Self {
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
        let agent = match reach {
            Reach::All => config.new_agent(),
            Reach::Public { except } => {
                let resolver = PublicResolver { except: except.clone(), ..PublicResolver::default() };
                Agent::with_parts(config, DefaultConnector::default(), resolver)
            }
        };
        Self { agent, meter, limits, secret }
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
        Err(Failure::new(format!("{} redirects too often: check the URL.", host(&url))))
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
        let translated = Translated { inner: reader, url: url.clone() };
        let metered = Metered::new(translated, self.meter, self.limits.total_bytes, self.limits.too_large());
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
    let host = host(url);
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

/// Parses the URL of a source.
pub(crate) fn parse(url: &str) -> Result<Url, Failure> {
    Url::parse(url).map_err(|_| Failure::new("The URL is invalid: it must begin with http:// or https://."))
}

/// Returns the host of a URL. Failures name no more of it, because a query can contain a secret.
pub(crate) fn host(url: &Url) -> String {
    url.host_str().unwrap_or("the server").to_owned()
}

/// Access that a request had.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access<'a> {
    /// The source is public.
    Public,
    /// The request had the password of this secret.
    Secret(&'a str),
    /// The source has this secret, but redirects to another server, which did not get it.
    OtherServer(&'a str),
}

/// Checks the status of an answer.
pub(crate) fn status(url: &Url, status: u16, access: Access<'_>) -> Result<(), Failure> {
    let host = host(url);
    let text = match status {
        200 => return Ok(()),
        401 | 403 | 404 | 407 | 410 => no_access(&host, status, access),
        429 => format!("{host} refuses more requests for now (429): launch the workshop again later."),
        500..=599 => format!("{host} has an error ({status}): launch the workshop again later."),
        _ => format!("{host} answers with the unexpected status {status}: check the URL."),
    };
    Err(Failure::new(text))
}

/// Returns the text about material that the server does not give. Some servers answer 404 for private material.
fn no_access(host: &str, status: u16, access: Access<'_>) -> String {
    match (status, access) {
        (404 | 410, Access::Public) => {
            format!("{host} does not have the material ({status}): check the URL, and that it is public.")
        }
        (_, Access::Public) => format!(
            "{host} requires a login ({status}): the material must be public, or its source needs a secret in the template."
        ),
        (404 | 410, Access::Secret(name)) => format!(
            "{host} does not have the material, or does not show it with the secret {name} ({status}): check the URL, and \
             which repositories the secret may read."
        ),
        (_, Access::Secret(name)) => format!(
            "{host} refuses the secret {name} ({status}): ask an administrator to check its user name, its password, and \
             which repositories it may read."
        ),
        (_, Access::OtherServer(name)) => format!(
            "The source redirects to {host}, which does not get the secret {name} ({status}): write the address at {host} \
             into the template."
        ),
    }
}

pub(crate) fn connection(url: &Url, error: &Error) -> Failure {
    let host = host(url);
    Failure::new(match error {
        Error::HostNotFound => unknown(&host),
        Error::Other(error) if error.is::<NoPublicAddress>() => format!(
            "{host} has only addresses that checks do not reach, such as private ones: ask an administrator whether workshops \
             reach it."
        ),
        // The standard library has no kind for this error.
        Error::Io(error) if error.to_string().contains("lookup address") => unknown(&host),
        Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => {
            let seconds = SILENCE.as_secs();
            format!("{host} sent nothing for {seconds} seconds: launch the workshop again later.")
        }
        Error::Timeout(_) => format!("{host} does not answer in time: launch the workshop again later."),
        Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            format!("{host} refuses the connection: check the URL, or launch the workshop again later.")
        }
        // The client passes errors of certificates on as this kind of error.
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            format!("The certificate of {host} is not accepted ({error}): check the URL.")
        }
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => {
            format!("The certificate of {host} is not accepted ({error}): check the URL.")
        }
        Error::ConnectProxyFailed(reason) => format!(
            "The HTTP proxy does not connect to {host} ({reason}): ask an administrator to allow this host at the proxy."
        ),
        Error::Protocol(_) | Error::LargeResponseHeader(..) | Error::BodyStalled => {
            format!("{host} does not follow the rules of http ({error}): check the URL.")
        }
        _ => format!("The connection to {host} failed ({error}): launch the workshop again later."),
    })
}

/// Returns the failure for an error of a connection through this HTTP proxy. A host that is unknown, or refuses the
/// connection, is the proxy: the proxy itself looks up the host of the URL, and connects to it.
pub(crate) fn proxied(proxy: &str, url: &Url, error: &Error) -> Failure {
    let is_unreachable = match error {
        Error::HostNotFound => true,
        Error::Io(error) => {
            error.kind() == io::ErrorKind::ConnectionRefused || error.to_string().contains("lookup address")
        }
        _ => false,
    };
    let is_silent = matches!(error, Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect));
    if is_silent {
        Failure::new(format!(
            "{} does not answer through the HTTP proxy {proxy} in time: launch the workshop again later. If this happens \
             again, ask an administrator whether workshops may connect to the proxy.",
            host(url)
        ))
    } else if is_unreachable {
        Failure::new(format!(
            "The HTTP proxy {proxy} cannot be reached ({error}): ask an administrator to check its address, and that \
             workshops may connect to it."
        ))
    } else {
        connection(url, error)
    }
}

fn unknown(host: &str) -> String {
    format!("The host {host} is unknown: check the URL and the network.")
}

/// Body whose errors are failures in plain words.
pub(crate) struct Translated {
    inner: BodyReader<'static>,
    url: Url,
}

impl std::fmt::Debug for Translated {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Translated").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Read for Translated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let failure = match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
                Some(inner) => connection(&self.url, inner),
                None => connection(&self.url, &Error::Io(error)),
            };
            failure.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_of_other_machines_are_allowed_unless_excepted() {
        let resolver = PublicResolver { except: vec!["203.0.113.0/28".parse().unwrap()], ..PublicResolver::default() };
        for (address, is_allowed) in [
            ("203.0.113.16", true),
            ("203.0.113.15", false),
            ("10.96.0.1", false),
            ("169.254.169.254", false),
            ("127.0.0.1", false),
            ("::ffff:203.0.113.16", false),
            ("2001:db8::1", false),
            ("::1", false),
        ] {
            assert_eq!(resolver.allows(address.parse().unwrap()), is_allowed, "{address}");
        }
    }

    #[test]
    fn own_address_is_recognised() {
        assert!(is_own(Ipv4Addr::LOCALHOST));
        assert!(!is_own(Ipv4Addr::new(203, 0, 113, 16)));
    }
}
