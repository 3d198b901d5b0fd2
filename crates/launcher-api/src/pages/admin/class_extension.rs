//! `POST /admin/templates/{template_id}/extend`: extends all ready workshops of a class until one time.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use jiff::Timestamp;
use launcher_domain::lifetime::ExtendError;
use launcher_service::{ClassExtension, ClassOutcome};
use serde::Deserialize;

use super::class::class_path;
use crate::extract::TemplateId;
use crate::pages::assets;
use crate::pages::forms::Fields;
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::{Around, Language, Text};
use crate::pages::view::{Instant, Shell};
use crate::permission::{Allowed, ManageClass};
use crate::problem::{Problem, ProblemCode};
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "admin/class_extension.html")]
struct ResultPage {
    t: Language,
    shell: Shell,
    name: String,
    /// The requested time.
    until: Instant,
    sums: Vec<Sum>,
    /// One row for each instance: refusals first, then by owner.
    rows: Vec<Row>,
    back: String,
}

/// Number of instances with the same outcome.
#[derive(Debug)]
struct Sum {
    label: Text,
    count: usize,
}

/// Result for one instance.
#[derive(Debug)]
struct Row {
    k8s_name: String,
    owner: String,
    result: Result<Lasts, Text>,
}

/// Expiry of an instance, and the sentence around it.
#[derive(Debug)]
struct Lasts {
    around: Around,
    until: Instant,
}

/// Form with the time in RFC 3339.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExtendForm {
    until: String,
}

/// Extends the class, and shows the result for each instance. A repeated request changes nothing.
pub(crate) async fn extend(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageClass>,
    TemplateId(id): TemplateId,
    Fields(form): Fields<ExtendForm>,
) -> PageResult {
    let template = state.launcher.template(&caller, id).await?;
    let until: Timestamp =
        form.until.parse().map_err(|_| Problem::new(ProblemCode::InvalidParameters, t.text("class-until-invalid")))?;
    let results = state.launcher.extend_class(&caller, id, until).await?;
    let mut rows: Vec<Row> = results.iter().map(|result| Row::new(t, result)).collect();
    rows.sort_by_cached_key(|row| (row.result.is_ok(), row.owner.clone()));
    let result = ResultPage {
        t,
        shell: shell(&state, &caller, t, "admin-templates").returning_to(class_path(id)),
        name: template.settings.name,
        until: Instant::new(t, until),
        sums: sums(t, &results),
        rows,
        back: class_path(id),
    };
    page(StatusCode::OK, &result)
}

fn sums(t: Language, results: &[ClassExtension]) -> Vec<Sum> {
    let sum = |key: &str, is_counted: fn(ClassOutcome) -> bool| Sum {
        label: t.text(key),
        count: results.iter().filter(|result| is_counted(result.outcome)).count(),
    };
    vec![
        sum("class-count-extended", |outcome| outcome == ClassOutcome::Extended),
        sum("class-count-shortened", |outcome| outcome == ClassOutcome::Shortened),
        sum("class-count-unchanged", |outcome| outcome == ClassOutcome::Unchanged),
        sum("class-count-refused", |outcome| matches!(outcome, ClassOutcome::Refused(_))),
    ]
}

impl Row {
    fn new(t: Language, extension: &ClassExtension) -> Self {
        let key = match extension.outcome {
            ClassOutcome::Extended => Ok("class-extended"),
            ClassOutcome::Shortened => Ok("class-shortened"),
            ClassOutcome::Unchanged => Ok("class-unchanged"),
            ClassOutcome::Refused(error) => Err(error),
        };
        let result = match (key, extension.expires_at) {
            (Ok(key), Some(until)) => Ok(Lasts { around: t.around(key), until: Instant::new(t, until) }),
            (Ok(_), None) => Err(t.not_extended(ExtendError::NotRunning)),
            (Err(error), _) => Err(t.not_extended(error)),
        };
        Self { k8s_name: extension.k8s_name.clone(), owner: extension.owner_email.to_string(), result }
    }
}
