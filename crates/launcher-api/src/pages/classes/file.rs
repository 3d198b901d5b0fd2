//! A class in a file: its export, and the form that creates a class from one.

use axum::response::Response;
use http::StatusCode;
use launcher_domain::FieldError;
use launcher_service::ServiceError;

use crate::pages::classes::{ClassesForms, path_of, render_list};
use crate::pages::forms::Upload;
use crate::pages::roster::text_of;
use crate::pages::{Language, PageResult, Visitor, forms};
use crate::permission::{Allowed, CreateClasses, InClass, ManageClassTemplates};
use crate::problem::Problem;
use crate::routes::snapshots::attachment;

/// `GET /classes/{class}/export`: the class and its templates as YAML.
pub(crate) async fn export(visitor: InClass<ManageClassTemplates, Visitor>) -> Result<Response, Problem> {
    let yaml = visitor.launcher.class_files().export(&visitor.access).await?;
    let name = format!("{}.yaml", visitor.access.class().content.slug);
    Ok(attachment(&name, "application/yaml", yaml))
}

/// Returns an error of a file with its location.
fn located(t: Language, error: &FieldError) -> String {
    let sentence = t.field_error(error);
    if error.pointer.is_empty() { sentence } else { format!("{}: {sentence}", error.pointer) }
}

/// `POST /import/class`: creates a class from a file. The reader becomes its teacher.
pub(crate) async fn import(visitor: Allowed<CreateClasses, Visitor>, form: Upload) -> PageResult {
    let text = text_of(&form.file).unwrap_or_default();
    let import_errors = match visitor.launcher.class_files().import(&visitor.caller, &text, &[]).await {
        Ok(class) => return Ok(forms::redirect(&path_of(&class))),
        Err(ServiceError::Invalid(errors)) => errors.iter().map(|error| located(visitor.t, error)).collect(),
        Err(error) => return Err(error.into()),
    };
    let forms = ClassesForms { import_errors, ..ClassesForms::default() };
    render_list(&visitor, StatusCode::UNPROCESSABLE_ENTITY, forms).await
}
