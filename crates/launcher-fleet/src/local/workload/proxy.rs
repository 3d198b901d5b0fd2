//! The proxy to a running app: its sidecar, and the gateway's login to an app that requires a token.
//!
//! The app listens on loopback, where every user of the machine can connect. The token blocks all requests that do not
//! come through the gateway. The gateway exchanges the token once for the app's login cookie, and adds the cookie to
//! forwarded requests. JupyterLab gets the token in a configuration file, because a command line is readable by other
//! users.
//!
//! The gateway does not add the token to forwarded requests. With a token, JupyterLab skips its checks against
//! cross-site requests, and lets pages of every origin read the response.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use launcher_domain::local_path::LocalPath;
use launcher_domain::{EmailAddress, Token};
use launcher_process::stop::Stop;
use launcher_sidecar::frame::{End, Expiry, Frame, LastCrash};
use launcher_sidecar::{Policy, Sidecar};
use serde_json::json;
use tokio::io::duplex;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::Workload;
use crate::local::records::Started;
use crate::machine::{Connection, SidecarConnector};

/// Buffer of the in-memory connection between the gateway and a sidecar, in bytes, for each direction.
const PIPE_BYTES: usize = 64 * 1024;

/// The proxy to a running app: its sidecar, and the gateway's login.
pub(crate) struct AppProxy {
    sidecar: Sidecar,
    /// The gateway's login to the app; `None` if the app requires no token.
    login: Option<Arc<Login>>,
}

impl AppProxy {
    /// Creates the proxy to the app of this Workshop. Its sidecar admits only the owner.
    pub(super) fn new(workload: &Workload, owner: EmailAddress, started: &Started) -> Self {
        let (record, origins, name) = (&workload.record, &workload.settings().origins, workload.name());
        let policy = Policy {
            owner: Some(owner),
            trusted_header: origins.trusted_header.clone(),
            require_authentication: origins.require_authentication,
            session_cookie_prefix: origins.session_cookie_prefix.clone(),
            proxy_secret: None,
        };
        let app = SocketAddr::from((Ipv4Addr::LOCALHOST, started.port));
        let login = started.token.clone().map(|token| Arc::new(Login::new(app, origins.host(name), token)));
        let [current, crashed, ended] = std::array::from_fn(|_| Arc::clone(record));
        let start_path = record.workshop().spec.start_path.as_deref().and_then(LocalPath::parse_of_app);
        let start_path = start_path.unwrap_or_else(LocalPath::root);
        let last_crash = move || crashed.get().status().report.last_crash;
        let frame = Frame {
            expiry: Expiry::Shared(Arc::new(move || current.get().expiry())),
            last_crash: LastCrash::Shared(Arc::new(last_crash)),
            end: End::Shared(Arc::new(move || ended.get().is_ending().then_some(()))),
            workshop_page: origins.workshop_page(name),
            course: record.workshop().spec.course,
            start_path,
            plain_tabs: record.workshop().spec.plain_tabs,
            in_class: record.workshop().spec.in_class,
            brand: origins.brand.clone(),
            clock: Arc::clone(&workload.data_dir().clock),
        };
        Self { sidecar: Sidecar::new(policy, app, frame), login }
    }
}

#[async_trait]
impl SidecarConnector for AppProxy {
    async fn connect(
        &self,
        headers: &mut HeaderMap,
        peer: Option<IpAddr>,
        stop: &Stop,
    ) -> io::Result<Box<dyn Connection>> {
        if let Some(login) = &self.login {
            login.add_to(headers).await?;
        }
        let (near, far) = duplex(PIPE_BYTES);
        let (sidecar, served) = (self.sidecar.clone(), stop.clone());
        stop.track(async move { sidecar.serve_connection(far, peer, served).await });
        Ok(Box::new(near))
    }
}

const COOKIE_NAME: &str = "jupyter-login";
/// Path of the login request. The app sets its login cookie on every path; the response of this path is small.
const PATH: &str = "/api/me";
const TIMEOUT: Duration = Duration::from_secs(10);

/// The gateway's login to one app: exchanges the app's token for its login cookie once.
struct Login {
    app: SocketAddr,
    host: String,
    token: Token,
    /// The login cookie as `name=value`; `None` if the app set no login cookie.
    cookie: OnceCell<Option<Vec<u8>>>,
}

impl Login {
    /// Creates the login. `host` is the value of the `Host` header in the login request.
    fn new(app: SocketAddr, host: String, token: Token) -> Self {
        Self { app, host, token, cookie: OnceCell::new() }
    }

    /// Adds the login cookie to a request for the app, and removes any login cookie of the client.
    async fn add_to(&self, headers: &mut HeaderMap) -> io::Result<()> {
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

/// Environment variable with a list of configuration directories. They take precedence over all other configuration
/// directories.
const CONFIG_PATH: &str = "JUPYTER_CONFIG_PATH";
/// Path of the configuration file with the token, below the app's directory.
pub(super) const LOGIN_FILE: &str = "login/jupyter_server_config.json";

pub(super) fn login_file(token: &Token) -> String {
    json!({ "IdentityProvider": { "token": token.reveal(), "cookie_name": COOKIE_NAME } }).to_string()
}

/// Puts the directory of the token's file first in [`CONFIG_PATH`], before directories from the template.
pub(super) fn prefer_login_file(app: &Path, env: &mut BTreeMap<OsString, OsString>) {
    let ours: Option<PathBuf> = app.join(LOGIN_FILE).parent().map(Path::to_owned);
    let others = env.get(&OsString::from(CONFIG_PATH)).cloned().unwrap_or_default();
    let paths = ours.into_iter().chain(std::env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()));
    // Joining fails only if a path contains a colon, the separator of the list. The app then does not get the
    // launcher's token.
    if let Ok(joined) = std::env::join_paths(paths) {
        env.insert(CONFIG_PATH.into(), joined);
    }
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
