//! Creates the templates of the seed file (SERVICE_SEED_TEMPLATES) at the start.

use std::path::Path;

use launcher_domain::template::FieldRule;
use launcher_domain::{EmailAddress, FieldError, JsonObject, PodTemplatePolicy};
use launcher_service::{Launcher, ServiceError, validate_template};
use uuid::Uuid;

use crate::settings::ServeSettings;

/// Author of seed templates, unless a development identity is set. The domain is reserved (RFC 2606), so the address
/// belongs to no person.
const SEEDED_BY: &str = "seed@launcher.invalid";

/// Creates each template of the seed file, unless a template with its id exists or existed. Admins may have changed or
/// archived an existing template, so it stays unchanged.
///
/// # Errors
/// Returns a message that names the file, and the entry if one entry is wrong.
pub(crate) async fn seed_templates(launcher: &Launcher, settings: &ServeSettings) -> Result<(), String> {
    let Some(path) = &settings.seed_templates else { return Ok(()) };
    for (index, seed) in entries(path)?.into_iter().enumerate() {
        let entry = index + 1;
        let broken = |problem: String| format!("{}, entry {entry}: {problem}", path.display());
        let (template_id, mut body) = read(seed).map_err(broken)?;
        let created_by = settings.api.bypass().cloned().map_or_else(|| EmailAddress::parse(SEEDED_BY), Ok);
        let created_by = created_by.map_err(|error| broken(error.to_string()))?;
        let mut seeded = launcher.seed_template(template_id, &body, created_by.clone()).await;
        if matches!(&seeded, Err(ServiceError::Invalid(errors)) if errors.iter().all(is_slug_taken)) {
            tracing::warn!(%template_id, entry, "another template has the slug of this seed, storing it without a slug");
            body.remove("slug");
            seeded = launcher.seed_template(template_id, &body, created_by).await;
        }
        match seeded {
            Ok(created) => tracing::debug!(%template_id, created, "stored seed template unless it already existed"),
            Err(ServiceError::Invalid(errors)) => return Err(broken(sentence(&errors))),
            Err(error) => return Err(broken(format!("the template cannot be stored: {error}"))),
        }
    }
    Ok(())
}

fn is_slug_taken(error: &FieldError) -> bool {
    matches!(error.rule, FieldRule::SlugTaken { .. })
}

/// Validates the seed file with the same rules as a start of the service. Returns the number of templates.
///
/// # Errors
/// Returns the same errors as [`seed_templates`].
pub(crate) fn check(path: &Path, policy: &PodTemplatePolicy) -> Result<usize, String> {
    let seeds = entries(path)?;
    let count = seeds.len();
    for (index, seed) in seeds.into_iter().enumerate() {
        let broken = |problem: String| format!("{}, entry {}: {problem}", path.display(), index + 1);
        let (_, body) = read(seed).map_err(broken)?;
        validate_template(&body, policy).map_err(|errors| broken(sentence(&errors)))?;
    }
    Ok(count)
}

fn entries(path: &Path) -> Result<Vec<JsonObject>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{shown} is not a JSON array of templates: {error}"))
}

fn read(mut seed: JsonObject) -> Result<(Uuid, JsonObject), String> {
    let id = seed.remove("template_id").ok_or("template_id is missing: add a UUID that no other template has")?;
    let id = id.as_str().and_then(|id| Uuid::parse_str(id).ok()).ok_or("template_id is not a UUID")?;
    Ok((id, seed))
}

/// Returns all errors with their locations.
pub(crate) fn sentence(errors: &[FieldError]) -> String {
    let located = |error: &FieldError| format!("{}: {}", error.pointer, error.detail());
    let errors: Vec<String> = errors.iter().map(located).collect();
    errors.join("; ")
}
