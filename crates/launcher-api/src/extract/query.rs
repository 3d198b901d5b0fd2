//! Parameters in the path and the query. A malformed identifier in the path gets the same 404 as an identifier that
//! does not exist.

use axum::Json;
use axum::extract::{FromRequestParts, Path};
use axum::response::{IntoResponse, Response};
use form_urlencoded::Serializer;
use http::header::LINK;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use launcher_domain::names::{is_k8s_name, is_volume_name};
use launcher_domain::{EmailAddress, InstanceState};
use launcher_service::{ActivityFilter, ArchiveFormat, Page, SearchText, StateFilter};
use serde::Serialize;
use uuid::Uuid;

use super::escaped;
use crate::permission::{Allowed, ListAllInstances, ListAllVolumes};
use crate::problem::Problem;
use crate::state::Call;

pub(crate) const MAX_LIMIT: u32 = 500;

/// The query parameters of a list. Each may appear at most once. [`ListQuery::finish`] refuses parameters that no
/// method has read. Serde does not serve here: its errors for a wrong value do not name the parameter.
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

    /// Reads the parameters `limit` and `cursor`. The page has one row more than the client asked for, so that
    /// [`list_page`] knows if another page follows.
    pub(crate) fn page<Id: PageCursor>(&mut self) -> Result<Page<Id>, Problem> {
        let limit = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|limit| digits && (1..=MAX_LIMIT).contains(limit))
        };
        let limit = self.read("limit", limit, "must be 1 to 500")?.unwrap_or(MAX_LIMIT);
        let after = self.read("cursor", Id::read, "must be a cursor from the Link header of a list")?;
        Ok(Page { limit: limit + 1, after })
    }

    pub(crate) fn state(&mut self) -> Result<StateFilter, Problem> {
        let read = |text: &str| match text {
            "live" => Some(StateFilter::Live),
            "ended" => Some(StateFilter::Ended),
            "all" => Some(StateFilter::All),
            name => InstanceState::parse(name).map(StateFilter::Only),
        };
        Ok(self.read("state", read, "must be live, ended, all, or the name of a state")?.unwrap_or_default())
    }

    pub(crate) fn format(&mut self) -> Result<ArchiveFormat, Problem> {
        let read = |text: &str| match text {
            "tar.gz" => Some(ArchiveFormat::TarGz),
            "zip" => Some(ArchiveFormat::Zip),
            _ => None,
        };
        Ok(self.read("format", read, "must be tar.gz or zip")?.unwrap_or_default())
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

    pub(crate) fn activity_filter(&mut self) -> Result<ActivityFilter, Problem> {
        let person = self.read("person", email, "must be an e-mail address")?;
        let subject = |text: &str| match hyphenated(text) {
            Some(template_id) => Some(template_id.to_string()),
            None => is_k8s_name(text).then(|| text.to_owned()),
        };
        let subject = self.read("subject", subject, "must be an instance's name or a template's UUID")?;
        Ok(ActivityFilter { person, subject })
    }

    /// Returns the path of the list below the base path, with all parameters but the cursor. Refuses unknown parameters,
    /// because a mistyped filter must not be ignored silently.
    pub(crate) fn finish(self, call: &Call, path: &str) -> Result<ListPath, Problem> {
        match self.pairs.iter().find(|(name, _)| !self.taken.contains(&name.as_str())) {
            Some((name, _)) => {
                let detail = format!("is unknown; the known parameters are {}", self.taken.join(", "));
                Err(Problem::invalid_parameter(&escaped(name), detail))
            }
            None => {
                let kept = self.pairs.into_iter().filter(|(name, _)| name != "cursor").collect();
                Ok(ListPath { path: call.api_path(path), query: kept })
            }
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

/// Path of a list, with the parameters that all of its pages have.
#[derive(Debug)]
pub(crate) struct ListPath {
    path: String,
    query: Vec<(String, String)>,
}

/// Returns a page of a list as a response, with the `Link` to the next page if there is one. `rows` was read with `page`,
/// which has one extra row.
pub(crate) fn list_page<T, Id: PageCursor, R: Serialize>(
    mut rows: Vec<T>,
    page: &Page<Id>,
    path: &ListPath,
    id: impl Fn(&T) -> Id,
    response: impl FnMut(T) -> R,
) -> Response {
    let has_more = rows.len() == page.limit as usize;
    rows.truncate(page.limit as usize - 1);
    let last = rows.last().filter(|_| has_more).map(id);
    let next = last.and_then(|last| {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(&path.query).append_pair("cursor", &last.write());
        HeaderValue::from_str(&format!("<{}?{}>; rel=\"next\"", path.path, query.finish())).ok()
    });
    let link: HeaderMap = next.map(|next| (LINK, next)).into_iter().collect();
    (link, Json(rows.into_iter().map(response).collect::<Vec<_>>())).into_response()
}

pub(crate) async fn path_part<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Option<String> {
    let Path(values) = Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.ok()?;
    values.into_iter().find(|(part, _)| part == name).map(|(_, value)| value)
}

/// Extractors of the identifiers in a path, each with the name of its part.
macro_rules! identifiers {
    ($($(#[$about:meta])* $name:ident($type:ty) = $part:literal: $read:expr;)*) => {
        $(
            $(#[$about])*
            #[derive(Debug)]
            pub(crate) struct $name(pub(crate) $type);

            impl<S: Send + Sync> FromRequestParts<S> for $name {
                type Rejection = Problem;

                async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
                    path_part(parts, state, $part).await.and_then($read).map(Self).ok_or_else(Problem::not_found)
                }
            }
        )*
    };
}

identifiers! {
    /// The instance name `{k8s_name}`.
    InstanceName(String) = "k8s_name": |name: String| is_k8s_name(&name).then_some(name);
    /// The volume name `{volume}`.
    VolumeName(String) = "volume": |name: String| is_volume_name(&name).then_some(name);
    /// The template's id `{template_id}`.
    TemplateId(Uuid) = "template_id": |id: String| hyphenated(&id);
    /// The snapshot's id `{snapshot_id}`.
    SnapshotId(Uuid) = "snapshot_id": |id: String| hyphenated(&id);
    /// The code `{code}` of a join link, as a person typed it.
    JoinCode(String) = "code": Some;
    /// The address `{email}` of a member. It has its canonical spelling.
    MemberEmail(EmailAddress) = "email": |text: String| email(&text).filter(|email| email.as_str() == text);
}

/// Parses a UUID in its hyphenated form (RFC 9562, section 4), in upper or lower case.
fn hyphenated(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == uuid::fmt::Hyphenated::LENGTH)
}
