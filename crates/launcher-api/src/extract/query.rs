//! Parameters in the path and the query. A malformed identifier in the path gets the same 404 as an identifier that
//! does not exist.

use axum::extract::{FromRequestParts, Path};
use form_urlencoded::Serializer;
use http::header::LINK;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use launcher_domain::names::{is_k8s_name, is_volume_name};
use launcher_domain::{EmailAddress, InstanceState};
use launcher_service::{ActivityFilter, Page, SearchText, StateFilter};
use utoipa::IntoParams;
use uuid::Uuid;

use crate::permission::{Allowed, ListAllInstances, ListAllVolumes};
use crate::problem::Problem;

const MAX_LIMIT: u32 = 500;

/// The parameters of a list's pages, for the document.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "a description: ListQuery reads the parameters")]
pub(crate) struct PageParameters {
    /// Maximum number of entries. Default: 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Start of the next page, from the `Link` of the previous page.
    #[param(pattern = "^[0-9a-f]{32}$")]
    cursor: Option<String>,
}

/// The query parameters of a list. Each may appear at most once. [`ListQuery::finish`] refuses parameters that no
/// method has read.
#[derive(Debug)]
pub(crate) struct ListQuery {
    pairs: Vec<(String, String)>,
    taken: Vec<&'static str>,
}

impl<S: Send + Sync> FromRequestParts<S> for ListQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
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
            Some(_) => Err(Problem::invalid_parameter(name, "must be given once")),
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

    /// Reads the parameters `limit` and `cursor`.
    pub(crate) fn page<Id: PageCursor>(&mut self) -> Result<Page<Id>, Problem> {
        let limit = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|limit| digits && (1..=MAX_LIMIT).contains(limit))
        };
        let limit = self.read("limit", limit, "must be 1 to 500")?.unwrap_or(MAX_LIMIT);
        let after = self.read("cursor", Id::read, "must be a cursor from the Link header of a list")?;
        Ok(Page { limit, after })
    }

    /// Reads the parameter `state`.
    pub(crate) fn state(&mut self) -> Result<StateFilter, Problem> {
        let read = |text: &str| match text {
            "live" => Some(StateFilter::Live),
            "ended" => Some(StateFilter::Ended),
            "all" => Some(StateFilter::All),
            name => InstanceState::parse(name).map(StateFilter::Only),
        };
        Ok(self.read("state", read, "must be live, ended, all, or the name of a state")?.unwrap_or_default())
    }

    /// Reads the parameter `search`. An empty text matches every instance.
    pub(crate) fn search(&mut self) -> Result<Option<SearchText>, Problem> {
        let read = |text: &str| (text.chars().count() <= SearchText::MAX_CHARS).then(|| SearchText::new(text));
        Ok(self.read("search", read, "must have at most 100 characters")?.flatten())
    }

    /// Reads the parameters `owner_email` and `template_id`. Both require the permission to list all instances.
    pub(crate) fn admin_filters(
        &mut self,
        permission: Result<Allowed<ListAllInstances>, Problem>,
    ) -> Result<(Option<EmailAddress>, Option<Uuid>), Problem> {
        let owner = self.read("owner_email", email, "must be an e-mail address")?;
        let template = self.read("template_id", hyphenated, "must be a UUID")?;
        if owner.is_some() || template.is_some() {
            permission?;
        }
        Ok((owner, template))
    }

    /// Reads the parameter `owner_email`. It requires the permission to list the saved files of all users.
    pub(crate) fn owner(
        &mut self,
        permission: Result<Allowed<ListAllVolumes>, Problem>,
    ) -> Result<Option<EmailAddress>, Problem> {
        let owner = self.read("owner_email", email, "must be an e-mail address")?;
        if owner.is_some() {
            permission?;
        }
        Ok(owner)
    }

    /// Reads the parameters `person` and `subject`.
    pub(crate) fn activity_filter(&mut self) -> Result<ActivityFilter, Problem> {
        let person = self.read("person", email, "must be an e-mail address")?;
        let subject = |text: &str| match hyphenated(text) {
            Some(template_id) => Some(template_id.to_string()),
            None => is_k8s_name(text).then(|| text.to_owned()),
        };
        let subject = self.read("subject", subject, "must be an instance's name or a template's UUID")?;
        Ok(ActivityFilter { person, subject })
    }

    /// Refuses unknown parameters, because a mistyped filter must not be ignored silently.
    pub(crate) fn finish(self) -> Result<Vec<(String, String)>, Problem> {
        match self.pairs.iter().find(|(name, _)| !self.taken.contains(&name.as_str())) {
            Some((name, _)) => {
                let pointer = name.replace('~', "~0").replace('/', "~1");
                Err(Problem::invalid_parameter(
                    &pointer,
                    format!("is unknown; the known parameters are {}", self.taken.join(", ")),
                ))
            }
            None => Ok(self.pairs),
        }
    }
}

/// Parses an e-mail address. Refuses white space around it.
fn email(text: &str) -> Option<EmailAddress> {
    EmailAddress::parse(text).ok().filter(|email| email.as_str().len() == text.len())
}

/// A cursor: the identifier of the last row of a page, in hexadecimal digits. Clients treat the cursor as opaque.
pub(crate) trait PageCursor: Sized {
    /// Parses a cursor. Refuses every spelling except the one that [`Self::write`] returns.
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

/// Cuts a list that was read with one extra row to the page size. If the extra row exists, returns the `Link` to the
/// next page, with all other parameters unchanged.
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

/// Returns the response headers of a page of a list, with the `Link` to the next page if there is one.
pub(crate) fn with_link(next: Option<HeaderValue>) -> HeaderMap {
    next.map(|next| (LINK, next)).into_iter().collect()
}

/// Extracts the instance name `{k8s_name}` from a path.
#[derive(Debug)]
pub(crate) struct InstanceName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for InstanceName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await.map(|Path(name)| name);
        name.ok().filter(|name| is_k8s_name(name)).map(Self).ok_or_else(Problem::not_found)
    }
}

/// Extracts the volume name `{volume}` from a path.
#[derive(Debug)]
pub(crate) struct VolumeName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for VolumeName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await.map(|Path(name)| name);
        name.ok().filter(|name| is_volume_name(name)).map(Self).ok_or_else(Problem::not_found)
    }
}

/// Extracts the template's id `{template_id}` from a path.
#[derive(Debug)]
pub(crate) struct TemplateId(pub(crate) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for TemplateId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        uuid(parts, state).await.map(Self)
    }
}

/// Extracts the snapshot's id `{snapshot_id}` from a path.
#[derive(Debug)]
pub(crate) struct SnapshotId(pub(crate) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for SnapshotId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        uuid(parts, state).await.map(Self)
    }
}

/// Extracts the only identifier of a path, a UUID.
async fn uuid<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Uuid, Problem> {
    let text = Path::<String>::from_request_parts(parts, state).await.map(|Path(text)| text);
    text.ok().and_then(|text| hyphenated(&text)).ok_or_else(Problem::not_found)
}

/// Parses a UUID in its hyphenated form (RFC 9562, section 4), in upper or lower case.
fn hyphenated(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == uuid::fmt::Hyphenated::LENGTH)
}
