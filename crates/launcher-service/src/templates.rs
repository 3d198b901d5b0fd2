//! Use cases of templates: all callers list and read, admins write.

use std::collections::BTreeMap;

use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::template::is_slug;
use launcher_domain::{
    Caller, ClassAccess, ClassAction, ClassContent, EmailAddress, FieldError, JsonObject, PodTemplatePolicy, Sizes,
    Template, TemplateContent, is_storable_pod_template,
};
use launcher_store::Page;
use launcher_workshop::pod_template::PodTemplate;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{ServiceError, require, require_in};
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

/// A place of templates with its reader: the shared catalog, which every caller reads and admins manage, or a class, which
/// its members read and its teachers manage.
#[derive(Debug, Clone, Copy)]
pub enum Catalog<'a> {
    Shared(&'a Caller),
    Class(&'a ClassAccess),
}

impl<'a> From<&'a Caller> for Catalog<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self::Shared(caller)
    }
}

impl<'a> From<&'a ClassAccess> for Catalog<'a> {
    fn from(access: &'a ClassAccess) -> Self {
        Self::Class(access)
    }
}

impl<'a> Catalog<'a> {
    /// Returns the class, or the shared catalog for `None`.
    #[must_use]
    pub fn of(caller: &'a Caller, class: Option<&'a ClassAccess>) -> Self {
        class.map_or(Self::Shared(caller), Self::Class)
    }

    pub(crate) fn caller(self) -> &'a Caller {
        match self {
            Self::Shared(caller) => caller,
            Self::Class(access) => access.caller(),
        }
    }

    pub(crate) fn class(self) -> Option<&'a ClassAccess> {
        match self {
            Self::Shared(_) => None,
            Self::Class(access) => Some(access),
        }
    }

    fn class_id(self) -> Option<Uuid> {
        self.class().map(|access| access.class().class_id)
    }

    /// True if the caller may launch templates that the catalog does not show, to try them.
    pub(crate) fn launches_inactive(self) -> bool {
        match self {
            Self::Shared(caller) => decide(caller, Action::LaunchInactive) == Verdict::Granted,
            Self::Class(access) => access.allows(ClassAction::ManageTemplates),
        }
    }

    /// Refuses callers who may not manage templates here.
    pub(crate) fn require_manager(self) -> Result<(), ServiceError> {
        match self {
            Self::Shared(caller) => require(caller, Action::ManageTemplates),
            Self::Class(access) => require_in(access, ClassAction::ManageTemplates),
        }
    }
}

impl Launcher {
    /// Lists a page of a catalog, newest first: active and listed templates, and for its managers all templates.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn templates<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        page: &Page,
    ) -> Result<Vec<Template>, ServiceError> {
        let catalog = catalog.into();
        let with_hidden = catalog.require_manager().is_ok();
        Ok(self.0.store.templates(catalog.class_id(), with_hidden, page).await?)
    }

    /// Returns one template of a catalog, active or not. Every reader of the catalog may read it.
    ///
    /// # Errors
    /// NotFound, Unavailable.
    pub async fn template<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        template_id: Uuid,
    ) -> Result<Template, ServiceError> {
        self.0.store.template(catalog.into().class_id(), template_id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns the class of a template with the caller's access; `None` for a template of the shared catalog.
    ///
    /// # Errors
    /// NotFound when the template does not exist, or is of a class that is hidden from the caller; Unavailable.
    pub async fn class_of_template(
        &self,
        caller: &Caller,
        template_id: Uuid,
    ) -> Result<Option<ClassAccess>, ServiceError> {
        let template = self.0.store.any_template(template_id).await?.ok_or(ServiceError::NotFound)?;
        let Some(class_id) = template.class_id else { return Ok(None) };
        self.0.store.class_by_id(caller, class_id).await?.map(Some).ok_or(ServiceError::NotFound)
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

    /// Sizes of workshops that the installation offers.
    #[must_use]
    pub fn sizes(&self) -> &Sizes {
        &self.0.policy.sizes
    }

    /// Reads the content of a template, with its pod template.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn validate_template(&self, body: &JsonObject) -> Result<TemplateContent, Vec<FieldError>> {
        validate_template(body, &self.0.policy.pod_templates)
    }

    /// Creates a template.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn create_template<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        body: &JsonObject,
    ) -> Result<Template, ServiceError> {
        self.create_template_once(catalog, self.draw_id(), body).await
    }

    /// Creates a template with an identifier that was generated before the request. A repeated request returns the
    /// existing template. If a different template has the identifier, the new template gets another identifier.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn create_template_once<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        template_id: Uuid,
        body: &JsonObject,
    ) -> Result<Template, ServiceError> {
        let catalog = catalog.into();
        catalog.require_manager()?;
        let caller = catalog.caller();
        let mut template = self.new_template(template_id, body, caller.email().clone())?;
        self.check_class(catalog, None, &template)?;
        if let Some(class_id) = catalog.class_id() {
            template.class_id = Some(class_id);
            template.template_id = id_in_class(class_id, template_id);
        }
        for _ in 0..ATTEMPTS {
            if self.0.store.create_template(&template, catalog.class()).await? {
                tracing::info!(template = %template.template_id, by = %caller.email(), "template created");
                return Ok(template);
            }
            let there = self.0.store.template(template.class_id, template.template_id).await?;
            if let Some(same) = there.filter(|there| is_the_same(there, &template)) {
                return Ok(same);
            }
            template.template_id = self.draw_id();
        }
        Err(ServiceError::Internal(
            "all generated template identifiers are already in use: the random number generator repeats its values"
                .into(),
        ))
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
    pub async fn update_template<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        template_id: Uuid,
        update: TemplateUpdate,
    ) -> Result<Template, ServiceError> {
        let catalog = catalog.into();
        catalog.require_manager()?;
        let TemplateContent { settings, listing, active } =
            self.validate_template(&update.body).map_err(ServiceError::Invalid)?;
        self.change_template(catalog, template_id, update.expected_version, |before| {
            let after = Template { settings: settings.clone(), listing: listing.clone(), active, ..before.clone() };
            self.check_class(catalog, Some(&before), &after)?;
            Ok(after)
        })
        .await
    }

    /// Removes a template from the catalog. Running instances continue. Idempotent. `expected_version` is the version
    /// that the caller read, if given: a different current version is rejected.
    ///
    /// # Errors
    /// Forbidden, NotFound, VersionMismatch, Unavailable.
    pub async fn archive_template<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        template_id: Uuid,
        expected_version: Option<i64>,
    ) -> Result<Template, ServiceError> {
        let catalog = catalog.into();
        catalog.require_manager()?;
        let archive = |before| Ok(Template { active: false, ..before });
        self.change_template(catalog, template_id, expected_version, archive).await
    }

    async fn change_template<F>(
        &self,
        catalog: Catalog<'_>,
        template_id: Uuid,
        expected_version: Option<i64>,
        change: F,
    ) -> Result<Template, ServiceError>
    where
        F: Fn(Template) -> Result<Template, ServiceError>,
    {
        for _ in 0..ATTEMPTS {
            let before = self.template(catalog, template_id).await?;
            if expected_version.is_some_and(|expected| expected != before.version) {
                return Err(ServiceError::VersionMismatch);
            }
            let mut after = change(before.clone())?;
            if after == before {
                return Ok(before);
            }
            after.version = before.version + 1;
            after.updated_at = self.0.clock.now();
            if self.0.store.save_template(&before, &after, catalog.caller(), catalog.class()).await? {
                tracing::info!(template = %template_id, version = after.version, "template changed");
                return Ok(after);
            }
        }
        Err(ServiceError::VersionMismatch)
    }

    /// Refuses settings of a class's template: see [`launcher_domain::ClassContent::template_errors`].
    fn check_class(
        &self,
        catalog: Catalog<'_>,
        before: Option<&Template>,
        after: &Template,
    ) -> Result<(), ServiceError> {
        let Some(access) = catalog.class() else { return Ok(()) };
        let (content, before) = (&access.class().content, before.map(|before| &before.settings));
        let errors =
            ClassContent::template_errors(Some(content), access.caller(), before, &after.settings, self.sizes());
        if errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(errors)) }
    }

    /// Refuses the launch of a template that its class does not allow any more, and of a class whose namespace the settings do not
    /// name any more: it would take a start from others until it fails.
    pub(crate) fn require_allowed(&self, access: &ClassAccess, template: &Template) -> Result<(), ServiceError> {
        self.0.fleets.of(access.class().content.namespace.as_deref()).map_err(ServiceError::FleetUnavailable)?;
        let errors = access.class().content.refusals(&template.settings, self.sizes());
        if errors.is_empty() { Ok(()) } else { Err(ServiceError::TemplateNotAllowed(errors)) }
    }

    fn new_template(
        &self,
        template_id: Uuid,
        body: &JsonObject,
        created_by: EmailAddress,
    ) -> Result<Template, ServiceError> {
        let content = self.validate_template(body).map_err(ServiceError::Invalid)?;
        Ok(Template::new(template_id, None, content, created_by, self.0.clock.now()))
    }
}

/// Returns the identifier of a new template of a class, for an identifier that its author has chosen. The author can neither
/// take the identifier of another template nor learn that it exists.
fn id_in_class(class_id: Uuid, chosen: Uuid) -> Uuid {
    let digest = Sha256::new().chain_update(class_id).chain_update(chosen).finalize();
    let (random, _) = digest.split_at(16);
    uuid::Builder::from_slice(random).map_or(chosen, |id| id.with_version(uuid::Version::Custom).into_uuid())
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
