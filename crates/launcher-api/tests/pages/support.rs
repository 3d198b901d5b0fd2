//! An application in one process, and browsers without scripts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use launcher_api::ApiSettings;
use launcher_domain::clock::{SystemClock, SystemEntropy};
use launcher_domain::{AdminList, Caller, Clock, EmailAddress, Limits, TemplateDraft};
use launcher_fleet::{Deletion, Fleet, FleetError, FleetEvent};
use launcher_service::Launcher;
use launcher_store::Store;
use launcher_workshop::{Phase, ResourceExt, Workshop, WorkshopStatus};
use tempfile::TempDir;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub(crate) const ADMIN: &str = "admin@example.org";
pub(crate) const ALICE: &str = "alice@example.org";
pub(crate) const BOB: &str = "bob@example.org";

/// What a crashed app wrote last: text, whatever it looks like.
pub(crate) const LAST_WORDS: &str = "<img src=x onerror=alert(1)> No module named 'numpyy'";

/// A fleet whose workshops are ready, or have crashed when their image says so, as soon as they are wanted.
#[derive(Debug)]
struct InstantFleet {
    workshops: Mutex<HashMap<String, Workshop>>,
    events: broadcast::Sender<FleetEvent>,
}

#[async_trait]
impl Fleet for InstantFleet {
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        let mut stored = workshop.clone();
        stored.metadata.uid = Some(format!("uid-of-{}", workshop.name_any()));
        stored.status = Some(status(&stored));
        self.workshops.lock().unwrap().insert(stored.name_any(), stored.clone());
        drop(self.events.send(FleetEvent::Applied(Box::new(stored.clone()))));
        Ok(stored)
    }

    async fn delete(&self, name: &str, _uid: Option<&str>) -> Result<Deletion, FleetError> {
        self.workshops.lock().unwrap().remove(name);
        Ok(Deletion::Gone)
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.workshops.lock().unwrap().get(name).cloned())
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        BroadcastStream::new(self.events.subscribe()).filter_map(async |event| event.ok()).boxed()
    }
}

fn status(workshop: &Workshop) -> WorkshopStatus {
    if workshop.spec.image.contains("crash") {
        let reason = Some("crashed".to_owned());
        let log_tail = Some(LAST_WORDS.to_owned());
        return WorkshopStatus { phase: Phase::Failed, reason, log_tail, ..WorkshopStatus::default() };
    }
    let url = Some(format!("https://{}.workshops.example.com/", workshop.name_any()));
    WorkshopStatus { phase: Phase::Running, url, ready_at: Some(SystemClock.now()), ..WorkshopStatus::default() }
}

/// The application. Its database and its loops end with it.
pub(crate) struct App {
    router: Router,
    pub(crate) launcher: Launcher,
    admins: AdminList,
    stop: CancellationToken,
    _directory: TempDir,
}

impl Drop for App {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl App {
    pub(crate) async fn start() -> Self {
        Self::with(Limits::default(), None).await
    }

    pub(crate) async fn with(limits: Limits, dev_identity: Option<&str>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite://{}/launcher.sqlite", directory.path().display())).await.unwrap();
        let fleet = InstantFleet { workshops: Mutex::default(), events: broadcast::channel(256).0 };
        let launcher = Launcher::new(store, Arc::new(fleet), Arc::new(SystemClock), Arc::new(SystemEntropy), limits);
        let stop = CancellationToken::new();
        tokio::spawn({
            let (launcher, stop) = (launcher.clone(), stop.clone());
            async move { launcher.run(stop).await }
        });
        let admins = AdminList::parse(ADMIN).unwrap();
        let settings = ApiSettings {
            admins: admins.clone(),
            trusted_header: launcher_domain::identity::TrustedHeader::default(),
            dev_identity: dev_identity.map(|email| EmailAddress::parse(email).unwrap()),
            base_path: "/api/v1".to_owned(),
            public_url: "https://launcher.example.org".to_owned(),
            login_url: "/oauth2/start".to_owned(),
            logout_url: Some("/oauth2/sign_out".to_owned()),
            stop: stop.clone(),
        };
        let router = launcher_api::router(launcher.clone(), settings);
        Self { router, launcher, admins, stop, _directory: directory }
    }

    pub(crate) fn browser(&self, email: &'static str) -> Browser<'_> {
        Browser { app: self, email: Some(email), htmx: false }
    }

    pub(crate) fn anonymous(&self) -> Browser<'_> {
        Browser { app: self, email: None, htmx: false }
    }

    pub(crate) fn caller(&self, email: &str) -> Caller {
        self.admins.caller(EmailAddress::parse(email).unwrap())
    }

    /// A template in the catalog; `change` makes it special. Returns its id.
    pub(crate) async fn template(&self, name: &str, change: impl FnOnce(&mut TemplateDraft)) -> String {
        let mut draft: TemplateDraft = serde_json::from_value(serde_json::json!({
            "name": name, "app_type": "notebook", "image": "quay.io/jupyter/base-notebook:latest"
        }))
        .unwrap();
        change(&mut draft);
        let template = self.launcher.create_template(&self.caller(ADMIN), draft).await.unwrap();
        template.template_id.to_string()
    }
}

/// Somebody's browser, without scripts unless `htmx`.
#[derive(Clone, Copy)]
pub(crate) struct Browser<'a> {
    app: &'a App,
    email: Option<&'static str>,
    htmx: bool,
}

impl Browser<'_> {
    pub(crate) fn with_htmx(self) -> Self {
        Self { htmx: true, ..self }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path).body(Body::empty()).unwrap()).await
    }

    /// Sends a form as a browser does: line breaks as CR LF.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = form_urlencoded::Serializer::new(String::new());
        for (name, value) in fields {
            form.append_pair(name, &value.replace("\r\n", "\n").replace('\n', "\r\n"));
        }
        let request = self
            .request("POST", path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", "https://launcher.example.org")
            .header("sec-fetch-site", "same-origin");
        self.send(request.body(Body::from(form.finish())).unwrap()).await
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> http::request::Builder {
        let mut request = Request::builder().method(method).uri(path).header("host", "launcher.example.org");
        if let Some(email) = self.email {
            request = request.header("x-auth-request-email", email);
        }
        if self.htmx {
            request = request.header("hx-request", "true");
        }
        request
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (status, headers, body) = self.stream(request).await;
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().into()).unwrap();
        Answer { status, headers, body }
    }

    pub(crate) async fn stream(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Body) {
        let response = self.app.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, parts.headers, body)
    }

    /// Launches a template through its page's form; returns the instance's name.
    pub(crate) async fn launch(&self, template_id: &str) -> String {
        let form = self.get(&format!("/launch/{template_id}")).await.form(&format!("/launch/{template_id}"));
        let launched = self.post(&format!("/launch/{template_id}"), &borrowed(&form)).await;
        let place = launched.location();
        place.strip_prefix("/#workshop-").unwrap_or_else(|| panic!("launched to {place}")).to_owned()
    }

    /// The page, as soon as it says `text`.
    pub(crate) async fn get_until(&self, path: &str, text: &str) -> Answer {
        let look = async {
            loop {
                let page = self.get(path).await;
                if page.body.contains(text) {
                    return page;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), look).await {
            Ok(page) => page,
            Err(_) => panic!("{path} never said {text:?}: {}", self.get(path).await.body),
        }
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Where a `303 See Other` leads.
    pub(crate) fn location(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.body);
        self.header("location")
    }

    /// The fields of the form with this action, as a browser would send them untouched.
    pub(crate) fn form(&self, action: &str) -> Vec<(String, String)> {
        let start = format!("action=\"{action}\"");
        let form = self.body.split("<form").find(|form| form.contains(&start));
        let form = form.unwrap_or_else(|| panic!("no form {action} in {}", self.body));
        let form = form.split("</form>").next().unwrap_or(form);
        let mut fields = Vec::new();
        for tag in form.split('<').skip(1) {
            let Some(name) = attribute(tag, "name") else { continue };
            if tag.starts_with("input") && (!tag.contains("checkbox") || tag.contains(" checked")) {
                fields.push((name, attribute(tag, "value").unwrap_or_default()));
            } else if tag.starts_with("textarea") {
                let text = tag.split_once('>').map_or("", |(_, text)| text);
                // Browsers drop the line break right behind the tag.
                fields.push((name, unescape(text.strip_prefix('\n').unwrap_or(text))));
            } else if tag.starts_with("select") {
                let options = form.split(&format!("name=\"{name}\"")).nth(1).unwrap().split("</select>").next().unwrap();
                let chosen = options.split("<option").find(|option| option.contains(" selected"));
                fields.push((name, attribute(chosen.unwrap_or_default(), "value").unwrap_or_default()));
            }
        }
        fields
    }
}

/// Fields as [`Browser::post`] takes them.
pub(crate) fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// The fields with one of them changed, or added.
pub(crate) fn with<'a>(fields: &'a [(String, String)], name: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    borrowed(fields).into_iter().filter(|(known, _)| *known != name).chain([(name, value)]).collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = format!(" {name}=\"");
    tag.split_once(&start).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| unescape(value))
}

fn unescape(text: &str) -> String {
    [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")]
        .into_iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
