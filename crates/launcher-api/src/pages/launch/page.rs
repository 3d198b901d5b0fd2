//! The page of a template with its launch form.

use askama::Template;
use http::StatusCode;
use launcher_domain::{Caller, FieldError, RepositoryDraft, Template as CatalogTemplate};

use crate::pages::launch::form::{Input, LaunchField, Prefill, launch_fields, launch_path};
use crate::pages::share::Share;
use crate::pages::view::{Card, Notice, WorkshopView};
use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, markdown, page_with, workshops};
use crate::permission::{LaunchActive, LaunchInactive, allows};

#[derive(Debug, Template)]
#[template(path = "launch.html")]
struct LaunchPage {
    t: Language,
    shell: Shell,
    card: Card,
    /// The reader's own workshops of this template that have not failed.
    mine: Vec<WorkshopView>,
    /// The reader's newest workshop of this template, if it has failed.
    failed: Option<WorkshopView>,
    description: String,
    active: bool,
    can_launch: bool,
    inactive_text: Text,
    share: Share,
    repository: Option<RepositoryDraft>,
    /// Error of a launch that does not concern a field.
    notice: Option<Notice>,
    fields: Vec<LaunchField>,
    /// Fields with errors, for the summary above the form.
    wrong: Vec<LaunchField>,
    /// Errors of parameters that the template does not have.
    unknown: Vec<String>,
    /// Names of parameters whose values a link cannot give.
    ignored: String,
}

/// The content of a launch form, and the answer to its last sending.
#[derive(Debug, Default)]
pub(super) struct Form {
    pub(super) status: StatusCode,
    pub(super) prefill: Prefill,
    pub(super) repository: Option<RepositoryDraft>,
    pub(super) notice: Option<Notice>,
    /// True if the page answers a sent form.
    pub(super) is_answer: bool,
}

impl Form {
    pub(super) fn filled(prefill: Prefill, repository: Option<RepositoryDraft>) -> Self {
        Self { prefill, repository, ..Self::default() }
    }
}

/// Shows the page of a template with this form.
pub(super) async fn show_form(visitor: &Visitor, template: &CatalogTemplate, form: Form) -> PageResult {
    let t = visitor.t;
    let Form { status, mut prefill, repository, notice, is_answer } = form;
    let (template_id, parameters) = (template.template_id, &template.settings.parameters);
    let mut mine = workshops::own_workshops_of(visitor, template_id).await?;
    let failed = mine.first().filter(|newest| newest.is_failed()).cloned();
    mine.retain(|workshop| !workshop.is_failed());
    if let Some(failed) = failed.as_ref().filter(|_| !is_answer && prefill.is_empty()) {
        prefill = Prefill::of_launch(parameters, &failed.parameter_values);
    }
    let fields = launch_fields(t, parameters, &prefill.values, &prefill.errors);
    let has_field = |error: &FieldError| fields.iter().any(|field| error.pointer == field.pointer());
    let unknown = prefill.errors.iter().filter(|error| !has_field(error)).map(|error| t.field_error(error)).collect();
    let frame = visitor.shell("");
    let can_launch = can_launch(&visitor.caller, template);
    let launch = LaunchPage {
        t,
        shell: if is_answer { frame.returning_to(launch_path(template_id, repository.as_ref())) } else { frame },
        card: Card::new(visitor, template),
        mine,
        failed,
        description: markdown::to_html(&template.settings.description),
        active: template.active,
        can_launch,
        inactive_text: if can_launch { t.text("inactive-admin") } else { t.text("inactive-user") },
        share: Share::new(&visitor.state, template),
        notice,
        wrong: fields.iter().filter(|field| !field.error.is_empty()).cloned().collect(),
        fields,
        unknown,
        ignored: prefill.ignored.join(", "),
        repository,
    };
    page_with(status, &launch)
}

/// Returns true if the caller may launch the template.
pub(super) fn can_launch(caller: &Caller, template: &CatalogTemplate) -> bool {
    if template.active { allows::<LaunchActive>(caller) } else { allows::<LaunchInactive>(caller) }
}
