//! Requests to the simulated API server, in parsed form.

use http::{Method, Request};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;
use tower::BoxError;

use crate::objects::Part;

/// A parsed request.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) verb: &'static str,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) part: Part,
    pub(crate) body: Value,
    query: String,
}

impl Asked {
    pub(crate) async fn read(request: Request<Body>) -> Result<Self, BoxError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
        let query = head.uri.query().unwrap_or_default().to_owned();
        // The path is /api/v1/… or /apis/GROUP/VERSION/…, then namespaces/NAMESPACE, then kind, name and subresource.
        let path: Vec<&str> = head.uri.path().split('/').filter(|part| !part.is_empty()).collect();
        let rest = if path.first() == Some(&"api") { &path[2..] } else { &path[3..] };
        let (kind, name, part) = match rest {
            ["namespaces", _, kind, rest @ ..] => (*kind, rest.first(), rest.get(1)),
            [kind, rest @ ..] => (*kind, rest.first(), rest.get(1)),
            [] => return Err("a path without a kind".into()),
        };
        let verb = match (&head.method, name) {
            (&Method::GET, None) if query.contains("watch=true") => "watch",
            (&Method::GET, None) => "list",
            (&Method::GET, Some(_)) if part == Some(&"log") => "log",
            (&Method::GET, Some(_)) => "get",
            (&Method::POST, _) => "create",
            (&Method::PUT, _) => "replace",
            (&Method::PATCH, _) => "apply",
            (&Method::DELETE, _) => "delete",
            _ => "",
        };
        Ok(Self {
            verb,
            kind: kind.to_owned(),
            name: name.copied().unwrap_or_default().to_owned(),
            part: if part == Some(&"status") { Part::Status } else { Part::Main },
            body,
            query,
        })
    }

    /// Returns a text that describes the request, for the trace.
    pub(crate) fn about(&self) -> String {
        let part = if self.part == Part::Status { " status" } else { "" };
        format!("{} {} {}{part}", self.verb, self.kind, self.name).trim_end().to_owned()
    }

    /// Returns a numeric query parameter.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.parameter(name)?.parse().ok()
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// True when the selectors of this request match an object. All selectors in use have the forms
    /// `app=…,managed-by=…` and `metadata.name=…`.
    pub(crate) fn selects(&self, object: &Value) -> bool {
        let named = self.parameter("fieldSelector").map(|selector| selector.replace("%3D", "="));
        if named.is_some_and(|named| named.strip_prefix("metadata.name=") != object["metadata"]["name"].as_str()) {
            return false;
        }
        let Some(selector) = self.parameter("labelSelector") else { return true };
        let selector = selector.replace("%3D", "=").replace("%2C", ",");
        selector.split(',').all(|term| {
            let (name, value) = term.split_once('=').unwrap_or((term, ""));
            object["metadata"]["labels"][name] == value
        })
    }
}
