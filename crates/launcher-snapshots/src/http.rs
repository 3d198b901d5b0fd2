//! HTTP client of the object store: hyper with rustls, which the launcher has anyway.
//!
//! Every wait has a limit: an object store that stops answering must not stop a loop of the launcher.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as TcpConnector;
use hyper_util::rt::TokioExecutor;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use tokio::time::timeout;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum time of a connection attempt.
    pub(crate) connect: Duration,
    /// Maximum time until the head of a response, after the complete request.
    pub(crate) head: Duration,
    /// Maximum time without progress of a response.
    pub(crate) stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(10), head: seconds(60), stall: seconds(30) }
    }
}

/// Maximum memory of a connection for what it has received, in bytes.
const RECEIVED_BYTES: usize = 64 << 10;

/// Makes clients that trust the certificates of the machine. They use plain HTTP only if the settings of the store allow it.
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Limits);

#[derive(Debug)]
struct Service {
    client: Client<HttpsConnector<TcpConnector>, HttpRequestBody>,
    limits: Limits,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |source: std::io::Error| object_store::Error::Generic { store: "S3", source: source.into() };
        let mut tcp = TcpConnector::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(self.0.connect));
        tcp.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new().with_native_roots().map_err(failed)?;
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|allows| allows == "true");
        let connector = if allows_http { connector.https_or_http() } else { connector.https_only() };
        let connector = connector.enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new()).http1_max_buf_size(RECEIVED_BYTES).build(connector);
        Ok(HttpClient::new(Service { client, limits: self.0 }))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answered = timeout(self.limits.head, self.client.request(request)).await;
        let response = answered.map_err(|elapsed| HttpError::new(HttpErrorKind::Timeout, elapsed))?;
        let response = response.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Request };
            HttpError::new(kind, error)
        })?;
        let stall = self.limits.stall;
        Ok(response.map(|body| limited(body, stall)))
    }
}

/// Returns the body, which fails after this time without progress.
fn limited(body: Incoming, stall: Duration) -> HttpResponseBody {
    let frames = unfold(Some(body), move |body| async move {
        let mut body = body?;
        match timeout(stall, body.frame()).await {
            Ok(None) => None,
            Ok(Some(Ok(frame))) => Some((Ok(frame), Some(body))),
            Ok(Some(Err(error))) => Some((Err(HttpError::new(HttpErrorKind::Interrupted, error)), None)),
            Err(elapsed) => Some((Err(HttpError::new(HttpErrorKind::Timeout, elapsed)), None)),
        }
    });
    HttpResponseBody::new(StreamBody::new(frames))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Starts a server that answers each connection with these bytes, and keeps it open. Returns its URL.
    async fn server(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut connection, _)) = listener.accept().await {
                // All of the request comes at once.
                assert!(connection.read(&mut [0; 4096]).await.unwrap() > 0);
                connection.write_all(answer.as_bytes()).await.unwrap();
                open.push(connection);
            }
        });
        url
    }

    /// Limits of answers that must arrive, also on a busy machine.
    const LONG: Limits =
        Limits { connect: Duration::from_secs(120), head: Duration::from_secs(120), stall: Duration::from_secs(120) };
    /// Limit of an answer that never arrives.
    const SHORT: Duration = Duration::from_millis(200);

    async fn get(url: &str, allows_http: bool, limits: Limits) -> Result<HttpResponse, HttpError> {
        let connector = Connector(limits);
        let client = connector.connect(&ClientOptions::new().with_allow_http(allows_http)).unwrap();
        client.execute(hyper::Request::get(url).body(HttpRequestBody::empty()).unwrap()).await
    }

    #[tokio::test]
    async fn silent_server_fails_the_request_in_time() {
        let error = get(&server("").await, true, Limits { head: SHORT, ..LONG }).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Timeout);
        let url = server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart").await;
        let response = get(&url, true, Limits { stall: SHORT, ..LONG }).await.unwrap();
        assert_eq!(response.into_body().bytes().await.unwrap_err().kind(), HttpErrorKind::Timeout);
    }

    #[tokio::test]
    async fn plain_http_is_refused_unless_it_is_allowed() {
        let url = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        assert_eq!(get(&url, false, LONG).await.unwrap_err().kind(), HttpErrorKind::Connect);
        assert!(get(&url, true, LONG).await.is_ok());
    }
}
