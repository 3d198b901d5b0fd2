//! A user with an HTTP client.

use std::net::SocketAddr;

use http::{HeaderMap, Method, StatusCode};
use reqwest::RequestBuilder;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::events::EventStream;

/// A user with an HTTP client that sets the identity header like the auth proxy. It does not follow redirects.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    addr: SocketAddr,
    base_path: String,
    identity: Option<String>,
}

/// A complete answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Client {
    pub(crate) fn new(addr: SocketAddr, base_path: &str, identity: Option<&str>) -> Self {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, addr, base_path: base_path.to_owned(), identity: identity.map(str::to_owned) }
    }

    /// Returns the same client with another identity, or without one.
    #[must_use]
    pub fn as_identity(&self, identity: Option<&str>) -> Self {
        Self { identity: identity.map(str::to_owned), ..self.clone() }
    }

    /// Builds a request with this user's identity. `path` is absolute: paths of the API include the base path.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("http://{}{path}", self.addr));
        match &self.identity {
            Some(identity) => request.header("X-Auth-Request-Email", identity),
            None => request,
        }
    }

    /// Returns the full path of a path of the API.
    #[must_use]
    pub fn api(&self, path: &str) -> String {
        format!("{}{path}", self.base_path)
    }

    /// Sends `GET` to a path of the API.
    pub async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, &self.api(path))).await
    }

    /// Sends `GET` to a page.
    pub async fn page(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path)).await
    }

    /// Sends `POST` to a path of the API, without a body.
    pub async fn post(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::POST, &self.api(path))).await
    }

    /// Sends `POST` with JSON to a path of the API.
    pub async fn post_json(&self, path: &str, body: &Value) -> Reply {
        Reply::of(self.request(Method::POST, &self.api(path)).json(body)).await
    }

    /// Sends `POST` with a page's form.
    pub async fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        Reply::of(self.request(Method::POST, path).form(fields)).await
    }

    /// Sends `PUT` with JSON to a path of the API.
    pub async fn put_json(&self, path: &str, body: &Value) -> Reply {
        Reply::of(self.request(Method::PUT, &self.api(path)).json(body)).await
    }

    /// Sends `DELETE` to a path of the API.
    pub async fn delete(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::DELETE, &self.api(path))).await
    }

    /// Opens the event stream `/events`.
    pub async fn events(&self, last_event_id: Option<&str>) -> EventStream {
        let mut request = self.request(Method::GET, &self.api("/events"));
        if let Some(id) = last_event_id {
            request = request.header("Last-Event-ID", id);
        }
        EventStream::new(request.send().await.unwrap())
    }

    /// Opens the event stream at a path of the API.
    pub async fn stream(&self, path: &str) -> EventStream {
        EventStream::new(self.request(Method::GET, &self.api(path)).send().await.unwrap())
    }

    /// Sends these bytes on a new connection, and returns all received bytes until the server closes it. The request
    /// needs `Connection: close`.
    pub async fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Reply {
    /// Sends a request and reads the answer.
    pub async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Self { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// A header's text; empty if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The `code` of a problem document.
    ///
    /// # Panics
    /// The answer is not a problem document, or the status in the document differs from the status of the answer.
    #[must_use]
    pub fn code(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}: {}", self.status, self.text());
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16());
        problem["code"].as_str().unwrap().to_owned()
    }

    /// Returns this answer if it has this status.
    ///
    /// # Panics
    /// The answer has another status.
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }
}
