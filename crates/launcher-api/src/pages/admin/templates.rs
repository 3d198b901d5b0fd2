//! The admins' list of templates, with the buttons that archive and restore one.

use askama::Template;
use launcher_domain::{Template as CatalogTemplate, TemplateContent};
use launcher_service::TemplateUpdate;
use serde::Deserialize;
use uuid::Uuid;

use super::images::{self, ImageLine, ImageQuery, Place};
use crate::extract::TemplateId;
use crate::pages::paths::TEMPLATES;
use crate::pages::share::{self, Share};
use crate::pages::view::{Card, Instant, Notice};
use crate::pages::{Language, PageResult, Query, Shell, Visitor, assets, forms, page, workshops};
use crate::permission::{Allowed, ManageTemplates};

/// Domain of addresses that belong to no person (RFC 2606), such as the author of seed templates.
const NOBODYS: &str = ".invalid";

#[derive(Debug, Template)]
#[template(path = "admin/templates.html")]
struct ListPage {
    t: Language,
    shell: Shell,
    notice: Option<Notice>,
    /// The template that was saved last, with its link.
    saved: Option<Saved>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Saved {
    name: String,
    template_id: Uuid,
    share: Share,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    saved: String,
    /// Number of workshops to which the larger maximum lifetime of the saved template was applied.
    raised: String,
    #[serde(flatten)]
    image: ImageQuery,
}

#[derive(Debug)]
struct Row {
    card: Card,
    image: String,
    image_line: Option<ImageLine>,
    active: bool,
    /// True if the template is not in the catalog, but can be launched by its link.
    unlisted: bool,
    url: String,
    /// Number of running workshops.
    running: u64,
    updated: Instant,
    /// Author of the template; `None` for a seed template.
    created_by: Option<String>,
}

pub(crate) async fn list(visitor: Allowed<ManageTemplates, Visitor>, Query(query): Query<ListQuery>) -> PageResult {
    let t = visitor.t;
    let templates = workshops::all_templates(&visitor).await?;
    let sizes = visitor.launcher.running_by_template(&visitor.caller).await?;
    let mut lines = images::lines(&visitor, Place::List, &templates).await?;
    let raised = query.raised.parse::<u64>().ok().map(|count| Notice {
        kind: "good",
        title: t.with_one("maximum-raised", "count", count).into(),
        text: t.text("maximum-raised-text"),
        blockers: None,
    });
    let notice = raised.or_else(|| query.image.notice(t, lines.values()));
    let row = |template: &CatalogTemplate| Row {
        card: Card::new(&visitor, template),
        image: template.settings.image.clone(),
        image_line: lines.remove(&template.template_id),
        active: template.active,
        unlisted: template.listing.unlisted,
        running: sizes.get(&template.template_id).copied().unwrap_or(0),
        url: share::url(&visitor.state, template),
        updated: Instant::new(t, template.updated_at),
        created_by: Some(template.created_by.to_string()).filter(|email| !email.ends_with(NOBODYS)),
    };
    let rows = templates.iter().map(row).collect();
    let saved = templates.iter().find(|template| template.template_id.to_string() == query.saved);
    let saved = saved.map(|template| Saved {
        name: template.settings.name.clone(),
        template_id: template.template_id,
        share: Share::new(&visitor.state, template),
    });
    page(&ListPage { t, shell: visitor.shell("admin-templates"), notice, saved, rows })
}

pub(crate) async fn archive(call: Allowed<ManageTemplates>, TemplateId(id): TemplateId) -> PageResult {
    call.launcher.archive_template(&call.caller, id, None).await?;
    Ok(forms::redirect(TEMPLATES))
}

/// `POST /admin/templates/{template_id}/restore`: puts the template back into the catalog, unchanged.
pub(crate) async fn restore(call: Allowed<ManageTemplates>, TemplateId(id): TemplateId) -> PageResult {
    let template = call.launcher.template(&call.caller, id).await?;
    let content = TemplateContent { active: true, ..TemplateContent::from(&template) };
    let update = TemplateUpdate { body: content.to_json(), expected_version: Some(template.version) };
    call.launcher.update_template(&call.caller, id, update).await?;
    Ok(forms::redirect(TEMPLATES))
}
