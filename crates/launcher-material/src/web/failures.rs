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

/// Checks the status of an answer.
pub(crate) fn status(url: &Url, status: u16) -> Result<(), Failure> {
    let host = host(url);
    let text = match status {
        200 => return Ok(()),
        401 | 403 | 407 => format!("{host} requires a login ({status}): the material must be public."),
        404 | 410 => format!("{host} does not have the material ({status}): check the URL, and that it is public."),
        429 => format!("{host} refuses more requests for now (429): launch the workshop again later."),
        500..=599 => format!("{host} has an error ({status}): launch the workshop again later."),
        _ => format!("{host} answers with the unexpected status {status}: check the URL."),
    };
    Err(Failure::new(text))
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
        Error::Protocol(_) | Error::LargeResponseHeader(..) | Error::BodyStalled => {
            format!("{host} does not follow the rules of http ({error}): check the URL.")
        }
        _ => format!("The connection to {host} failed ({error}): launch the workshop again later."),
    })
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
