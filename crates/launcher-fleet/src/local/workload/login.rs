//! The gateway's login to an app that requires a token.
//!
//! The app listens on loopback, where every user of the machine can connect. The token blocks all requests that do not
//! come through the gateway. The gateway exchanges the token once for the app's login cookie, and adds the cookie to
//! forwarded requests.
//!
//! The gateway does not add the token to forwarded requests. With a token, JupyterLab skips its checks against
//! cross-site requests, and lets pages of every origin read the response.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::local::records::Token;

/// Name of the app's login cookie.
pub(crate) const COOKIE_NAME: &str = "jupyter-login";
/// Path of the login request. The app sets its login cookie on every path; the response of this path is small.
const PATH: &str = "/api/me";
/// Timeout of the login request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The gateway's login to one app: exchanges the app's token for its login cookie once.
#[derive(Debug)]
pub(crate) struct Login {
    app: SocketAddr,
    host: String,
    token: Token,
    /// The login cookie as `name=value`; `None` if the app set no login cookie.
    cookie: OnceCell<Option<Vec<u8>>>,
}

impl Login {
    /// Creates the login. `host` is the value of the `Host` header in the login request.
    pub(crate) fn new(app: SocketAddr, host: String, token: Token) -> Self {
        Self { app, host, token, cookie: OnceCell::new() }
    }

    /// Adds the login cookie to a request for the app, and removes any login cookie of the client.
    ///
    /// # Errors
    /// The app does not answer the login request. The next request logs in again.
    pub(crate) async fn add_to(&self, headers: &mut HeaderMap) -> io::Result<()> {
        let cookie = self.cookie.get_or_try_init(|| async {
            timeout(TIMEOUT, self.log_in()).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        });
        if let Some(cookie) = cookie.await? {
            put_cookie(headers, cookie)?;
        }
        Ok(())
    }

    async fn log_in(&self) -> io::Result<Option<Vec<u8>>> {
        let stream = TcpStream::connect(self.app).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        let request = Request::get(PATH)
            .header(HOST, &self.host)
            .header(AUTHORIZATION, format!("token {}", self.token.reveal()))
            .header(CONNECTION, "close")
            .body(Empty::<Bytes>::new())
            .map_err(io::Error::other)?;
        let answer = tokio::select! {
            answer = sender.send_request(request) => answer,
            Err(error) = connection => Err(error),
        };
        let answer = answer.map_err(io::Error::other)?;
        let mut cookies = answer.headers().get_all(SET_COOKIE).iter().map(|line| first_pair(line.as_bytes()));
        let cookie = cookies.find(|pair| is_login(pair)).map(<[u8]>::to_vec);
        if cookie.is_none() {
            tracing::warn!(
                host = self.host,
                status = %answer.status(),
                "app set no login cookie, forwarding requests without it"
            );
        }
        Ok(cookie)
    }
}

/// Writes all cookies into one header line, because some apps read only one line. Replaces login cookies from the
/// client.
fn put_cookie(headers: &mut HeaderMap, login: &[u8]) -> io::Result<()> {
    let sent = headers.get_all(COOKIE).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    let others = sent.map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty() && !is_login(pair));
    let line = others.chain([login]).collect::<Vec<_>>().join(&b"; "[..]);
    headers.insert(COOKIE, HeaderValue::from_bytes(&line).map_err(io::Error::other)?);
    Ok(())
}

fn first_pair(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
}

fn is_login(pair: &[u8]) -> bool {
    let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
    name.trim_ascii() == COOKIE_NAME.as_bytes()
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::COOKIE;

    use super::put_cookie;

    #[test]
    fn login_cookie_replaces_forged_cookie_and_keeps_others() {
        for (sent, expected) in [
            (vec![], "jupyter-login=\"x\""),
            (vec!["_xsrf=1"], "_xsrf=1; jupyter-login=\"x\""),
            (vec!["jupyter-login=forged; _xsrf=1;", "a=b"], "_xsrf=1; a=b; jupyter-login=\"x\""),
            (vec!["jupyter-login2=2; jupyter-login"], "jupyter-login2=2; jupyter-login=\"x\""),
        ] {
            let mut headers: HeaderMap = sent.iter().map(|line| (COOKIE, line.parse().unwrap())).collect();
            put_cookie(&mut headers, b"jupyter-login=\"x\"").unwrap();
            assert_eq!(headers.get_all(COOKIE).iter().collect::<Vec<_>>(), [expected], "{sent:?}");
        }
    }
}
