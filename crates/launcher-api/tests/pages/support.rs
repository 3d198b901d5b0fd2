//! An application under test, with browsers that do not run scripts.

use http::{HeaderMap, Method, StatusCode};
use launcher_domain::{AdminList, Caller, EmailAddress};
use launcher_service::Limits;
use launcher_testkit::{Client, Options, TestApp, Users, eventually};
use reqwest::RequestBuilder;
use serde_json::{Value, json};

pub(crate) use launcher_testkit::{ADMIN, ALICE, BOB};

/// The application under test. It opens a browser for each user.
pub(crate) struct App {
    pub(crate) test: TestApp,
    unauthenticated: Client,
}

impl App {
    pub(crate) async fn start() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with_limit(max_instances_per_user: u32) -> Self {
        let limits = Limits { max_instances_per_user, ..Limits::default() };
        Self::with(Options { limits, ..Options::default() }).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let settings = [vec!["--logout-url=/oauth2/sign_out".to_owned()], options.settings].concat();
        let options = Options { settings, ..options };
        let Users { app: test, unauthenticated, .. } = TestApp::start_with(options).await;
        Self { test, unauthenticated }
    }

    pub(crate) async fn finish(self) {
        drop(self.unauthenticated);
        self.test.finish().await;
    }

    pub(crate) fn browser(&self, email: &'static str) -> Browser {
        Browser { client: self.unauthenticated.as_identity(Some(email)), htmx: false }
    }

    pub(crate) fn anonymous(&self) -> Browser {
        Browser { client: self.unauthenticated.clone(), htmx: false }
    }

    pub(crate) fn admin(&self) -> Caller {
        AdminList::parse(ADMIN).unwrap().caller(EmailAddress::parse(ADMIN).unwrap())
    }

    /// Creates a template in the catalog, from a JSON object that `change` has modified. Returns the template's id.
    pub(crate) async fn template(&self, name: &str, change: impl FnOnce(&mut Value)) -> String {
        let image = "quay.io/jupyter/base-notebook:latest";
        let mut body = json!({ "name": name, "app_type": "notebook", "image": image });
        change(&mut body);
        let body = body.as_object().unwrap();
        let template = self.test.launcher.create_template(&self.admin(), body).await.unwrap();
        template.template_id.to_string()
    }
}

/// A user's browser without scripts. If `htmx` is set, it sends requests as htmx does.
#[derive(Clone)]
pub(crate) struct Browser {
    client: Client,
    htmx: bool,
}

impl Browser {
    pub(crate) fn with_htmx(&self) -> Self {
        Self { htmx: true, ..self.clone() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request(Method::GET, path)).await
    }

    /// Sends a form as a browser does, with line breaks as CR LF.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let sent = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        let fields: Vec<(&str, String)> = fields.iter().map(|(name, value)| (*name, sent(value))).collect();
        let request = self.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        Answer::of(request.form(&fields)).await
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, path);
        if self.htmx { request.header("hx-request", "true") } else { request }
    }

    /// Launches a template through the form of its page. Returns the instance's name.
    pub(crate) async fn launch(&self, template_id: &str) -> String {
        let action = format!("/launch/{template_id}");
        let form = self.get(&action).await.form(&action);
        let launched = self.post(&action, &borrowed(&form)).await;
        let place = launched.location();
        let name = place.strip_prefix("/instances/").and_then(|rest| rest.strip_suffix("/wait"));
        name.unwrap_or_else(|| panic!("launched to {place}")).to_owned()
    }

    /// Loads the page until it contains `text`. Returns the page.
    pub(crate) async fn get_until(&self, path: &str, text: &str) -> Answer {
        eventually(async || {
            let page = self.get(path).await;
            page.body.contains(text).then_some(page)
        })
        .await
    }
}

/// A response to the browser.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Self { status, headers, body: response.text().await.unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns true if the answer leads to the list of templates, with the link of the saved template.
    pub(crate) fn is_saved(&self) -> bool {
        self.location().starts_with("/admin/templates?saved=")
    }

    /// Returns the path to which a `303 See Other` redirects.
    pub(crate) fn location(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.body);
        self.header("location")
    }

    /// Returns the body without the time when the page was rendered.
    pub(crate) fn timeless(&self) -> String {
        let now = self.body.split_once("data-now=\"").and_then(|(_, rest)| rest.split_once('"'));
        now.map_or_else(|| self.body.clone(), |(now, _)| self.body.replace(now, ""))
    }

    /// Returns the fields of the form with this action, as a browser would send the unchanged form.
    pub(crate) fn form(&self, action: &str) -> Vec<(String, String)> {
        let start = format!("action=\"{action}\"");
        let form = self.body.split("<form").find(|form| form.contains(&start));
        let form = form.unwrap_or_else(|| panic!("no form {action} in {}", self.body));
        let form = form.split("</form>").next().unwrap_or(form);
        let mut fields = Vec::new();
        for tag in form.split('<').skip(1) {
            let Some(name) = attribute(tag, "name") else { continue };
            let is_box = ["checkbox", "radio"].iter().any(|kind| tag.contains(&format!("type=\"{kind}\"")));
            if tag.starts_with("input") && (!is_box || tag.contains(" checked")) {
                fields.push((name, attribute(tag, "value").unwrap_or_default()));
            } else if tag.starts_with("textarea") {
                let text = tag.split_once('>').map_or("", |(_, text)| text);
                // A browser reads every line break as LF, and drops a line break directly after the tag `<textarea>`.
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                fields.push((name, unescape(text.strip_prefix('\n').unwrap_or(&text))));
            } else if tag.starts_with("select") {
                let options =
                    form.split(&format!("name=\"{name}\"")).nth(1).unwrap().split("</select>").next().unwrap();
                let chosen = options.split("<option").find(|option| option.contains(" selected"));
                fields.push((name, attribute(chosen.unwrap_or_default(), "value").unwrap_or_default()));
            }
        }
        fields
    }
}

/// Returns the HTML of the row with this text, outside of its menu and in it.
pub(crate) fn row_actions<'a>(page: &'a str, text: &str) -> (&'a str, &'a str) {
    let row = page.split("<tr").find(|row| row.contains(text)).unwrap_or_else(|| panic!("no row {text} in {page}"));
    let (visible, menu) = row.split_once("<details class=\"menu\">").unwrap_or((row, ""));
    (visible, menu.split("</details>").next().unwrap_or(menu))
}

/// Borrows fields as arguments for [`Browser::post`].
pub(crate) fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Returns the fields with one field changed or added.
pub(crate) fn with<'a>(fields: &'a [(String, String)], name: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    borrowed(fields).into_iter().filter(|(known, _)| *known != name).chain([(name, value)]).collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = format!(" {name}=\"");
    tag.split_once(&start).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| unescape(value))
}

/// Replaces the HTML character references that the templates write.
pub(crate) fn unescape(text: &str) -> String {
    [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")]
        .into_iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
