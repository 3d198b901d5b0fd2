//! Use cases of templates: all callers list and read, admins write.

use std::collections::BTreeMap;

use launcher_domain::access::Action;
use launcher_domain::names::uuid_v7;
use launcher_domain::template::is_slug;
use launcher_domain::{
    Caller, EmailAddress, FieldError, JsonObject, PodTemplatePolicy, Template, TemplateContent,
    is_storable_pod_template,
};
use launcher_store::Page;
use launcher_workshop::pod_template::PodTemplate;
use serde_json::Value;
use uuid::Uuid;

use crate::error::{ServiceError, require};
use crate::launcher::Launcher;

/// Maximum attempts to create or update a template. Only a conflict with a concurrent request causes
/// another attempt.
const ATTEMPTS: usize = 16;

/// Full replacement of a template.
#[derive(Debug, Clone)]
pub struct TemplateUpdate {
    /// The new content: see [`TemplateContent::read`].
    pub body: JsonObject,
    /// The version that the caller read, if given. A different current version is rejected.
    pub expected_version: Option<i64>,
}

impl Launcher {
    /// Lists a page of the catalog, newest first: active and listed templates, and for an admin all templates.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn templates(&self, caller: &Caller, page: &Page) -> Result<Vec<Template>, ServiceError> {
        Ok(self.0.store.templates(caller, page).await?)
    }

    /// Returns one template, active or not. Every caller may read it.
    ///
    /// # Errors
    /// NotFound, Unavailable.
    pub async fn template(&self, _caller: &Caller, template_id: Uuid) -> Result<Template, ServiceError> {
        self.0.store.template(template_id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns the template with this slug, active or not. Every caller may read it.
    ///
    /// # Errors
    /// NotFound, Unavailable.
    pub async fn template_by_slug(&self, _caller: &Caller, slug: &str) -> Result<Template, ServiceError> {
        if !is_slug(slug) {
            return Err(ServiceError::NotFound);
        }
        self.0.store.template_by_slug(slug).await?.ok_or(ServiceError::NotFound)
    }

    /// Rejects callers who are not admins. The API calls this function before it reads the request body, so that such
    /// callers get no validation errors.
    ///
    /// # Errors
    /// Forbidden.
    pub fn may_manage_templates(&self, caller: &Caller) -> Result<(), ServiceError> {
        require(caller, Action::ManageTemplates)
    }

    /// Reads the content of a template, with its pod template.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn validate_template(&self, body: &JsonObject) -> Result<TemplateContent, Vec<FieldError>> {
        validate_template(body, &self.0.pod_template_policy)
    }

    /// Creates a template.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn create_template(&self, caller: &Caller, body: &JsonObject) -> Result<Template, ServiceError> {
        self.create_template_once(caller, self.draw_template_id(), body).await
    }

    /// Creates a template with an identifier that was generated before the request. A repeated request returns the
    /// existing template. If a different template has the identifier, the new template gets another identifier.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn create_template_once(
        &self,
        caller: &Caller,
        template_id: Uuid,
        body: &JsonObject,
    ) -> Result<Template, ServiceError> {
        self.may_manage_templates(caller)?;
        let mut template = self.new_template(template_id, body, caller.email().clone())?;
        for _ in 0..ATTEMPTS {
            if self.0.store.create_template(&template).await? {
                tracing::info!(template = %template.template_id, by = %caller.email(), "template created");
                return Ok(template);
            }
            let there = self.0.store.template(template.template_id).await?;
            if let Some(same) = there.filter(|there| is_the_same(there, &template)) {
                return Ok(same);
            }
            template.template_id = self.draw_template_id();
        }
        Err(ServiceError::Internal(
            "all generated template identifiers are already in use: the random number generator repeats its values"
                .into(),
        ))
    }

    /// Generates an identifier for a new template.
    #[must_use]
    pub fn draw_template_id(&self) -> Uuid {
        uuid_v7(&*self.0.clock, &*self.0.entropy)
    }

    /// Creates a template of the seed file, unless it was created before. Changes that admins made to it are therefore
    /// kept. Returns true when it was created.
    ///
    /// # Errors
    /// Invalid, Unavailable.
    pub async fn seed_template(
        &self,
        template_id: Uuid,
        body: &JsonObject,
        created_by: EmailAddress,
    ) -> Result<bool, ServiceError> {
        let template = self.new_template(template_id, body, created_by)?;
        Ok(self.0.store.seed_template(&template).await?)
    }

    /// Replaces a template.
    ///
    /// # Errors
    /// Forbidden, NotFound, Invalid, VersionMismatch, Unavailable.
    pub async fn update_template(
        &self,
        caller: &Caller,
        template_id: Uuid,
        update: TemplateUpdate,
    ) -> Result<Template, ServiceError> {
        self.may_manage_templates(caller)?;
        let TemplateContent { settings, listing, active } =
            self.validate_template(&update.body).map_err(ServiceError::Invalid)?;
        self.change_template(caller, template_id, |before| {
            if update.expected_version.is_some_and(|expected| expected != before.version) {
                return Err(ServiceError::VersionMismatch);
            }
            Ok(Template { settings: settings.clone(), listing: listing.clone(), active, ..before })
        })
        .await
    }

    /// Removes a template from the catalog. Running instances continue. Idempotent. `expected_version` is the version
    /// that the caller read, if given: a different current version is rejected.
    ///
    /// # Errors
    /// Forbidden, NotFound, VersionMismatch, Unavailable.
    pub async fn archive_template(
        &self,
        caller: &Caller,
        template_id: Uuid,
        expected_version: Option<i64>,
    ) -> Result<Template, ServiceError> {
        self.may_manage_templates(caller)?;
        self.change_template(caller, template_id, |before| {
            if expected_version.is_some_and(|expected| expected != before.version) {
                return Err(ServiceError::VersionMismatch);
            }
            Ok(Template { active: false, ..before })
        })
        .await
    }

    async fn change_template<F>(&self, caller: &Caller, template_id: Uuid, change: F) -> Result<Template, ServiceError>
    where
        F: Fn(Template) -> Result<Template, ServiceError>,
    {
        for _ in 0..ATTEMPTS {
            let before = self.0.store.template(template_id).await?.ok_or(ServiceError::NotFound)?;
            let mut after = change(before.clone())?;
            if after == before {
                return Ok(before);
            }
            after.version = before.version + 1;
            after.updated_at = self.0.clock.now();
            if self.0.store.save_template(&before, &after, caller).await? {
                tracing::info!(template = %template_id, version = after.version, "template changed");
                return Ok(after);
            }
        }
        Err(ServiceError::VersionMismatch)
    }

    fn new_template(
        &self,
        template_id: Uuid,
        body: &JsonObject,
        created_by: EmailAddress,
    ) -> Result<Template, ServiceError> {
        let now = self.0.clock.now();
        let TemplateContent { settings, listing, active } =
            self.validate_template(body).map_err(ServiceError::Invalid)?;
        Ok(Template {
            template_id,
            settings,
            listing,
            active,
            version: 1,
            created_by,
            created_at: now,
            updated_at: now,
        })
    }
}

/// Reads the content of a template, with its pod template. The policy says which names the pod template may use.
///
/// # Errors
/// All errors, each with its location; never empty.
pub fn validate_template(body: &JsonObject, policy: &PodTemplatePolicy) -> Result<TemplateContent, Vec<FieldError>> {
    let content = TemplateContent::read(body);
    let pod_errors = pod_template_errors(body, &content, policy);
    match content {
        Ok(content) if pod_errors.is_empty() => Ok(content),
        Ok(_) => Err(pod_errors),
        Err(errors) => Err(errors.into_iter().chain(pod_errors).collect()),
    }
}

/// Returns the errors inside of the pod template, also if other fields are wrong.
fn pod_template_errors(
    body: &JsonObject,
    content: &Result<TemplateContent, Vec<FieldError>>,
    policy: &PodTemplatePolicy,
) -> Vec<FieldError> {
    let source = match content {
        Ok(content) => content.settings.pod_template.as_ref(),
        // Otherwise the reader of the content reports it.
        Err(_) => body.get("pod_template").and_then(Value::as_object).filter(|source| is_storable_pod_template(source)),
    };
    let Some(source) = source else { return Vec::new() };
    let errors = match PodTemplate::parse(source, &variables(body)) {
        Ok(template) => template.forbidden(policy),
        Err(errors) => errors,
    };
    let at = |FieldError { pointer, rule }| FieldError::new(format!("/pod_template{pointer}"), rule);
    errors.into_iter().map(at).collect()
}

/// Returns the variables of the app that the template sets, or for which a launch gives the value.
fn variables(body: &JsonObject) -> BTreeMap<String, String> {
    let env = body.get("env").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone());
    let parameters = body.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let names = parameters.filter_map(|parameter| parameter.get("name")?.as_str().map(str::to_owned));
    env.chain(names).map(|name| (name, String::new())).collect()
}

/// True when the stored template equals the wanted one: an earlier attempt has already stored it.
fn is_the_same(there: &Template, wanted: &Template) -> bool {
    there.created_by == wanted.created_by
        && there.active == wanted.active
        && there.settings == wanted.settings
        && there.listing == wanted.listing
}
