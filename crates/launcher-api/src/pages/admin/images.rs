//! `/admin/templates/{template_id}/image`: the state of a template's image on the fleet's server, and its download.

use std::collections::BTreeMap;

use askama::Template;
use launcher_domain::{FailureCode, FailureReason, Template as CatalogTemplate};
use launcher_service::{ImageState, ServiceError};
use serde::Deserialize;
use uuid::Uuid;

use crate::extract::TemplateId;
use crate::pages::view::Notice;
use crate::pages::{Fields, Language, PageResult, Query, Text, Visitor, forms, page, paths};
use crate::permission::{Allowed, ManageTemplates};

/// The line with the state of an image, as the answer to htmx.
#[derive(Debug, Template)]
#[template(path = "admin/image.html")]
struct Fragment {
    image: ImageLine,
}

#[derive(Debug)]
pub(super) struct ImageLine {
    pub(super) template_id: Uuid,
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) class: &'static str,
    /// The state, with the progress of a download.
    pub(super) text: Text,
    /// The state without the progress. Screen readers announce its changes.
    pub(super) announced: Text,
    pub(super) is_pulling: bool,
    /// Description of the failure, and remedy for an admin.
    pub(super) failure: Option<(String, Text)>,
    pub(super) button: Option<Text>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Place {
    #[default]
    List,
    Edit,
}

/// Page that shows the line, in the query of the line and in its form.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PlaceField {
    page: Place,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ImageQuery {
    /// Id of the template whose download the admin has begun.
    pulling: String,
}

impl Place {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Edit => "edit",
        }
    }
}

impl ImageQuery {
    /// Returns the notice that a download has begun.
    pub(super) fn notice<'a>(&self, t: Language, lines: impl IntoIterator<Item = &'a ImageLine>) -> Option<Notice> {
        let is_begun = |line: &&ImageLine| line.is_pulling && line.template_id.to_string() == self.pulling;
        let line = lines.into_iter().find(is_begun)?;
        Some(Notice {
            kind: "good",
            title: t.text("image-begun-title"),
            text: t.with_one("image-begun", "name", line.name.as_str()).into(),
            blockers: None,
        })
    }
}

impl ImageLine {
    fn new(t: Language, template: &CatalogTemplate, state: &ImageState, place: Place) -> Self {
        let (class, announced, failure, button) = match state {
            ImageState::Missing => ("state-terminated", "image-missing", None, Some("image-download")),
            ImageState::Pulling { .. } => ("state-starting", "image-pulling", None, None),
            ImageState::Ready => ("state-running", "image-ready", None, None),
            ImageState::Failed(reason) => (
                "state-failed",
                "image-failed",
                Some((t.failure_message(reason), t.text(remedy(reason)))),
                Some("image-retry"),
            ),
        };
        let text = match state {
            ImageState::Pulling { percent: 100 } => t.text("image-unpacking"),
            // A download that has not begun has no percentage.
            ImageState::Pulling { percent: percent @ 1.. } => {
                t.with_one("image-pulling-percent", "percent", *percent).into()
            }
            _ => t.text(announced),
        };
        Self {
            template_id: template.template_id,
            name: template.settings.name.clone(),
            place,
            class,
            text,
            announced: t.text(announced),
            is_pulling: matches!(state, ImageState::Pulling { .. }),
            failure,
            button: button.map(|key| t.text(key)),
        }
    }
}

/// Returns the key of the remedy for an admin.
fn remedy(reason: &FailureReason) -> &'static str {
    match reason.code {
        FailureCode::Unschedulable => "image-check-disk",
        _ if reason.retryable => "image-check-registry",
        _ => "image-check-template",
    }
}

/// Returns the line of each template whose image has a known state, by the template's id. Empty if the fleet has no
/// images, or does not answer.
pub(super) async fn lines(
    visitor: &Visitor,
    place: Place,
    templates: &[CatalogTemplate],
) -> Result<BTreeMap<Uuid, ImageLine>, ServiceError> {
    let images = templates.iter().map(|template| template.settings.image.clone());
    let states = visitor.launcher.image_states(&visitor.caller, images).await?;
    let line = |template: &CatalogTemplate| {
        let state = states.get(&template.settings.image)?;
        Some((template.template_id, ImageLine::new(visitor.t, template, state, place)))
    };
    Ok(templates.iter().filter_map(line).collect())
}

/// `GET /admin/templates/{template_id}/image`: only the line. htmx requests it during a download.
pub(crate) async fn show(
    visitor: Allowed<ManageTemplates, Visitor>,
    TemplateId(id): TemplateId,
    Query(query): Query<PlaceField>,
) -> PageResult {
    let template = visitor.launcher.template(&visitor.caller, id).await?;
    let image = visitor.launcher.image_state(&visitor.caller, id).await?;
    page(&Fragment { image: ImageLine::new(visitor.t, &template, &image, query.page) })
}

/// `POST /admin/templates/{template_id}/image`: begins the download, then shows the page with the button again.
pub(crate) async fn pull(
    call: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    Fields(form): Fields<PlaceField>,
) -> PageResult {
    call.launcher.pull_image(&call.caller, id).await?;
    let next = match form.page {
        Place::List => format!("{}?pulling={id}", paths::TEMPLATES),
        Place::Edit => format!("{}/{id}/edit?pulling={id}", paths::TEMPLATES),
    };
    Ok(forms::redirect(&next))
}
