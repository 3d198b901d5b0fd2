//! Failures of requests, in plain words.

use std::io::{self, Read};

use ureq::{BodyReader, Error};
use url::Url;

use crate::failure::Failure;
use crate::limits::SILENCE;

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
            "{host} requires a login ({status}): the material must be public, or its source needs secret= in the template."
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

/// Returns the failure for an error of a connection.
pub(crate) fn connection(url: &Url, error: &Error) -> Failure {
    let host = host(url);
    Failure::new(match error {
        Error::HostNotFound => unknown(&host),
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

impl Translated {
    /// Translates the errors of this body.
    pub(crate) fn new(inner: BodyReader<'static>, url: &Url) -> Self {
        Self { inner, url: url.clone() }
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
