//! Query parameters of lists.

use axum::extract::FromRequestParts;
use form_urlencoded::Serializer;
use http::header::LINK;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use launcher_domain::access::Action;
use launcher_domain::names::is_k8s_name;
use launcher_domain::{Caller, EmailAddress, InstanceState};
use launcher_service::{ActivityFilter, Page, StateFilter};
use uuid::Uuid;

use super::path::hyphenated;
use crate::identity::permit;
use crate::problem::Problem;
use crate::state::AppState;

const MAX_LIMIT: u32 = 500;

/// The query parameters of a list, each at most once. [`ListQuery::finish`] refuses parameters that were not taken.
#[derive(Debug)]
pub(crate) struct ListQuery {
    pairs: Vec<(String, String)>,
    taken: Vec<&'static str>,
}

impl FromRequestParts<AppState> for ListQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self { pairs: form_urlencoded::parse(query.as_bytes()).into_owned().collect(), taken: Vec::new() })
    }
}

impl ListQuery {
    fn take(&mut self, name: &'static str) -> Result<Option<&str>, Problem> {
        self.taken.push(name);
        let mut values = self.pairs.iter().filter(|(given, _)| given == name).map(|(_, value)| value.as_str());
        let value = values.next();
        match values.next() {
            Some(_) => Err(Problem::invalid_parameter(name, "give it once")),
            None => Ok(value),
        }
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
        wanted: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.take(name)? else { return Ok(None) };
        read(text).map(Some).ok_or_else(|| Problem::invalid_parameter(name, wanted))
    }

    /// Reads `limit` and `cursor`.
    pub(crate) fn page<Id: PageCursor>(&mut self) -> Result<Page<Id>, Problem> {
        let limit = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|limit| digits && (1..=MAX_LIMIT).contains(limit))
        };
        let limit = self.read("limit", limit, "1 to 500")?.unwrap_or(MAX_LIMIT);
        let after = self.read("cursor", Id::read, "a cursor as it stands in the Link of a list")?;
        Ok(Page { limit, after })
    }

    /// Reads `state`.
    pub(crate) fn state(&mut self) -> Result<StateFilter, Problem> {
        let read = |text: &str| match text {
            "live" => Some(StateFilter::Live),
            "ended" => Some(StateFilter::Ended),
            "all" => Some(StateFilter::All),
            name => InstanceState::parse(name).map(StateFilter::Only),
        };
        Ok(self.read("state", read, "live, ended, all, or the name of a state")?.unwrap_or_default())
    }

    /// Reads `owner_email` and `template_id`, for callers who may list all instances.
    pub(crate) fn admin_filters(&mut self, caller: &Caller) -> Result<(Option<EmailAddress>, Option<Uuid>), Problem> {
        let owner = self.read("owner_email", email, "an e-mail address")?;
        let template = self.read("template_id", hyphenated, "a UUID")?;
        if owner.is_some() || template.is_some() {
            permit(caller, Action::ListAllInstances)?;
        }
        Ok((owner, template))
    }

    /// Reads `person` and `subject`.
    pub(crate) fn activity_filter(&mut self) -> Result<ActivityFilter, Problem> {
        let person = self.read("person", email, "an e-mail address")?;
        let subject = |text: &str| match hyphenated(text) {
            Some(template_id) => Some(template_id.to_string()),
            None => is_k8s_name(text).then(|| text.to_owned()),
        };
        let subject = self.read("subject", subject, "an instance's name or a template's UUID")?;
        Ok(ActivityFilter { person, subject })
    }

    /// Refuses unknown parameters: a mistyped filter must not be ignored silently.
    pub(crate) fn finish(self) -> Result<Vec<(String, String)>, Problem> {
        match self.pairs.iter().find(|(name, _)| !self.taken.contains(&name.as_str())) {
            Some((name, _)) => {
                let pointer = name.replace('~', "~0").replace('/', "~1");
                Err(Problem::invalid_parameter(&pointer, format!("unknown; there are {}", self.taken.join(", "))))
            }
            None => Ok(self.pairs),
        }
    }
}

/// Parses an e-mail address without surrounding white space.
fn email(text: &str) -> Option<EmailAddress> {
    EmailAddress::parse(text).ok().filter(|email| email.as_str().len() == text.len())
}

/// The identifier of a page's last row, in hexadecimal digits. Clients treat it as opaque.
pub(crate) trait PageCursor: Sized {
    /// Parses a cursor in its canonical form.
    fn read(text: &str) -> Option<Self>;
    /// Formats the cursor.
    fn write(&self) -> String;
}

impl PageCursor for Uuid {
    fn read(text: &str) -> Option<Self> {
        Self::try_parse(text).ok().filter(|id| id.write() == text)
    }

    fn write(&self) -> String {
        self.simple().to_string()
    }
}

impl PageCursor for i64 {
    fn read(text: &str) -> Option<Self> {
        Self::from_str_radix(text, 16).ok().filter(|id| id.write() == text)
    }

    fn write(&self) -> String {
        format!("{self:016x}")
    }
}

/// Cuts a list that was read with one extra row. If that row was present, returns the `Link` to the next page, with all
/// other parameters unchanged.
pub(crate) fn next_page<T, Id: PageCursor>(
    rows: &mut Vec<T>,
    page: &Page<Id>,
    id: impl Fn(&T) -> Id,
    path: &str,
    query: &[(String, String)],
) -> Option<HeaderValue> {
    let limit = page.limit as usize;
    if rows.len() <= limit {
        return None;
    }
    rows.truncate(limit);
    let last = id(rows.last()?);
    let kept = query.iter().filter(|(name, _)| name != "cursor");
    let mut next = Serializer::new(String::new());
    next.extend_pairs(kept).append_pair("cursor", &last.write());
    HeaderValue::from_str(&format!("<{path}?{}>; rel=\"next\"", next.finish())).ok()
}

/// Returns the headers of a page.
pub(crate) fn with_link(next: Option<HeaderValue>) -> HeaderMap {
    next.map(|next| (LINK, next)).into_iter().collect()
}
