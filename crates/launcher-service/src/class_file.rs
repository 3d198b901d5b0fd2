//! A class in a file: its content and its templates as YAML, without people. The file copies a class to the next term, to
//! another server, or into a repository.
//!
//! The file has the texts of the templates unchanged. It therefore keeps the digest of an image and the commit of a source of
//! course material, if the template has them. It has the names of secrets, not their values.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use launcher_domain::access::Action;
use launcher_domain::names::{random_suffix, uuid_v7};
use launcher_domain::{
    Caller, Class, ClassAccess, ClassAction, ClassContent, ClassRole, Clock, EmailAddress, Entropy, FieldError,
    FieldRule, JsonObject, MemberSource, Membership, Template, TemplateContent, TemplatePolicy,
};
use launcher_store::{Page, Store, StoreError};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::classes::MemberDraft;
use crate::error::{ServiceError, require, require_in};
use crate::launcher::Launcher;
use crate::settings::Limits;
use crate::templates::validate_template;

/// Aliases in a YAML document.
const MAX_ALIASES: usize = 100;
/// Values in a YAML document: more than a class with [`MAX_TEMPLATES`] needs.
const MAX_NODES: usize = 50_000;
/// Templates in a file: one transaction stores them.
const MAX_TEMPLATES: usize = 200;

/// Field of the file with the templates.
const TEMPLATES: &str = "templates";
/// Templates that are read from the database at once.
const BATCH: u32 = 100;
/// Maximum attempts to find a free slug. Each has 25 random bits.
const ATTEMPTS: usize = 4;

/// A text that is not YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// Line of the error, from 1.
    pub line: u64,
    /// The parser's English sentence.
    pub message: String,
}

/// Reads a YAML document. JSON is YAML, too.
///
/// # Errors
/// The first line that is not YAML.
pub fn from_yaml(text: &str) -> Result<Value, YamlError> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    // Aliases must not make a short text a large value.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: MAX_ALIASES,
            max_nodes: MAX_NODES,
            max_total_scalar_bytes: 2 * text.len() + 4096,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error: serde_saphyr::Error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = error.without_snippet().to_string();
        YamlError { line, message: message.lines().next().unwrap_or_default().to_owned() }
    })
}

/// Formats a value as YAML. Uses JSON if the parser would not read the YAML as the same value.
#[must_use]
pub fn to_yaml(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    let is_lossless = |text: &String| from_yaml(text).as_ref() == Ok(&json);
    serde_saphyr::to_string(value).ok().filter(is_lossless).unwrap_or_else(|| json.to_string())
}

/// Checks that the namespace of a class is one of these, or none.
///
/// # Errors
/// The error at the field.
pub(crate) fn check_namespace(content: &ClassContent, namespaces: &[String]) -> Result<(), FieldError> {
    if content.namespace.as_ref().is_none_or(|namespace| namespaces.contains(namespace)) {
        return Ok(());
    }
    let choices = std::iter::once("null").chain(namespaces.iter().map(String::as_str)).collect::<Vec<_>>().join(", ");
    Err(FieldError::new("/namespace", FieldRule::Choice { choices }))
}

#[derive(Serialize)]
struct ClassFile<'c> {
    #[serde(flatten)]
    content: &'c ClassContent,
    templates: Vec<TemplateContent>,
}

/// Creation of classes and their export. Needs no fleet, so that a command works beside a stopped service.
#[derive(Debug, Clone, Copy)]
pub struct ClassFiles<'a> {
    pub store: &'a Store,
    pub clock: &'a dyn Clock,
    pub entropy: &'a dyn Entropy,
    /// What templates may use.
    pub policy: &'a TemplatePolicy,
    /// Namespaces that a class can have.
    pub namespaces: &'a [String],
    /// Limits of people who are no admins.
    pub limits: Limits,
}

impl ClassFiles<'_> {
    /// Returns a class with all its templates as YAML, oldest template first.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn export(&self, access: &ClassAccess) -> Result<String, ServiceError> {
        require_in(access, ClassAction::ManageTemplates)?;
        let class = access.class();
        let (mut templates, mut page) = (Vec::new(), Page { limit: BATCH, after: None });
        loop {
            let batch = self.store.templates(Some(class.class_id), true, &page).await?;
            let Some(last) = batch.last() else { break };
            page.after = Some(last.template_id);
            templates.extend(batch);
        }
        let templates = templates.iter().rev().map(TemplateContent::from).collect();
        // Another server has other namespaces.
        let content = &ClassContent { namespace: None, ..class.content.clone() };
        Ok(to_yaml(&ClassFile { content, templates }))
    }

    /// Creates the class of a file with its templates, all or nothing, and returns it. If another class has the slug of the
    /// file, the new class gets one with a suffix. The first teachers are `teachers`; the caller if empty.
    ///
    /// # Errors
    /// Forbidden, Unavailable; Invalid with all errors of the file, each with its location.
    pub async fn import(&self, caller: &Caller, file: &str, teachers: &[EmailAddress]) -> Result<Class, ServiceError> {
        require(caller, Action::CreateClasses)?;
        let (content, templates) = self.read(caller, file).map_err(ServiceError::Invalid)?;
        self.create(caller, content, true, teachers, templates).await
    }

    /// Reads the content of a new class.
    ///
    /// # Errors
    /// All errors, each with its location.
    pub(crate) fn read_content(&self, caller: &Caller, body: &JsonObject) -> Result<ClassContent, Vec<FieldError>> {
        let mut content = ClassContent::read(body, None)?;
        let refused = content.creation_errors(caller, self.limits.max_workshops_per_created_class);
        let mut errors = [refused, content.unknown_sizes(None, &self.policy.sizes)].concat();
        if caller.is_admin() {
            errors.extend(check_namespace(&content, self.namespaces).err());
        }
        if errors.is_empty() { Ok(content) } else { Err(errors) }
    }

    fn read(&self, caller: &Caller, file: &str) -> Result<(ClassContent, Vec<TemplateContent>), Vec<FieldError>> {
        let error = |pointer: String, rule| vec![FieldError::new(pointer, rule)];
        let whole = from_yaml(file).map_err(|YamlError { line, message }| {
            error(String::new(), FieldRule::Value { message: format!("line {line} is not YAML: {message}") })
        })?;
        let Value::Object(mut body) = whole else { return Err(error(String::new(), FieldRule::Object)) };
        let templates = body.remove(TEMPLATES);
        let content = self.read_content(caller, &body);
        let templates = match templates {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(templates)) => self.read_templates(caller, content.as_ref().ok(), &templates),
            Some(_) => Err(error(format!("/{TEMPLATES}"), FieldRule::List)),
        };
        match (content, templates) {
            (Ok(content), Ok(templates)) => Ok((content, templates)),
            (content, templates) => {
                let errors = content.err().into_iter().chain(templates.err());
                Err(errors.flatten().collect())
            }
        }
    }

    /// Reads the templates of a class with this content, if it is valid.
    fn read_templates(
        &self,
        caller: &Caller,
        class: Option<&ClassContent>,
        templates: &[Value],
    ) -> Result<Vec<TemplateContent>, Vec<FieldError>> {
        if templates.len() > MAX_TEMPLATES {
            return Err(vec![FieldError::new(format!("/{TEMPLATES}"), FieldRule::TemplateCount)]);
        }
        let (mut read, mut errors, mut slugs) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (index, template) in templates.iter().enumerate() {
            let content = match template.as_object() {
                Some(body) => self.read_template(caller, class, body),
                None => Err(vec![FieldError::new("", FieldRule::Object)]),
            };
            let content = content.and_then(|content| match content.listing.slug.clone() {
                Some(slug) if !slugs.insert(slug.clone()) => {
                    Err(vec![FieldError::new("/slug", FieldRule::SlugTaken { slug })])
                }
                _ => Ok(content),
            });
            let at = |FieldError { pointer, rule }| FieldError::new(format!("/{TEMPLATES}/{index}{pointer}"), rule);
            match content {
                Ok(content) => read.push(content),
                Err(wrong) => errors.extend(wrong.into_iter().map(at)),
            }
        }
        if errors.is_empty() { Ok(read) } else { Err(errors) }
    }

    fn read_template(
        &self,
        caller: &Caller,
        class: Option<&ClassContent>,
        body: &JsonObject,
    ) -> Result<TemplateContent, Vec<FieldError>> {
        let content = validate_template(body, &self.policy.pod_templates)?;
        let errors = ClassContent::template_errors(class, caller, None, &content.settings, &self.policy.sizes);
        if errors.is_empty() { Ok(content) } else { Err(errors) }
    }

    /// Creates a class with its first teachers and templates. If another class has its slug and `derives_slug` is true, the
    /// slug gets a suffix. Without the rights of an admin it always gets one, so that it does not reveal the slugs of hidden classes.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        content: ClassContent,
        derives_slug: bool,
        teachers: &[EmailAddress],
        templates: Vec<TemplateContent>,
    ) -> Result<Class, ServiceError> {
        let (now, created_by, wanted) = (self.clock.now(), caller.email().clone(), content.clone());
        let class_id = self.draw_id();
        let mut class = Class { class_id, content, version: 1, created_by, created_at: now, updated_at: now };
        let mut teachers = teachers.to_vec();
        // Only an admin keeps access to a class without a role in it.
        if teachers.is_empty() || (!caller.is_admin() && !teachers.contains(caller.email())) {
            teachers.push(caller.email().clone());
        }
        let teacher =
            |email: &EmailAddress| MemberDraft { email: email.clone(), role: ClassRole::Teacher, name: String::new() };
        let members: Vec<_> = teachers.iter().map(|email| self.membership(class_id, teacher(email))).collect();
        // The list of templates shows the newest first: the order of the file is that of their times.
        let times = (0..templates.len()).rev().map(|back| {
            let before = SignedDuration::from_millis(i64::try_from(back).unwrap_or(0));
            now.checked_sub(before).unwrap_or(now)
        });
        let template =
            |(content, at)| Template::new(self.draw_id(), Some(class_id), content, class.created_by.clone(), at);
        let templates: Vec<_> = templates.into_iter().zip(times).map(template).collect();
        let (is_admin, max_classes) = (caller.is_admin(), self.limits.max_classes_per_creator);
        let most = (!is_admin).then_some(max_classes);
        let mut stored = Err(StoreError::ClassSlugTaken { slug: wanted.slug.clone() });
        for attempt in 0..ATTEMPTS {
            if attempt > 0 || !is_admin {
                // 25 random bits.
                class.content.slug = wanted.slug_with(&random_suffix(self.entropy));
            }
            stored = self.store.create_class(&class, &members, &templates, caller, most).await;
            if (is_admin && !derives_slug) || !matches!(stored, Err(StoreError::ClassSlugTaken { .. })) {
                break;
            }
        }
        stored?;
        tracing::info!(class = %class.content.slug, by = %caller.email(), "class created");
        Ok(class)
    }

    pub(crate) fn draw_id(&self) -> Uuid {
        uuid_v7(self.clock, self.entropy)
    }

    pub(crate) fn membership(&self, class_id: Uuid, draft: MemberDraft) -> Membership {
        let MemberDraft { email, role, name } = draft;
        Membership {
            membership_id: self.draw_id(),
            class_id,
            email,
            source: MemberSource::Roster,
            role,
            name,
            joined_at: self.clock.now(),
            removed_at: None,
        }
    }
}

impl Launcher {
    /// Returns the creation of classes and their export, with the database and the settings of this launcher.
    #[must_use]
    pub fn class_files(&self) -> ClassFiles<'_> {
        let inner = &*self.0;
        ClassFiles {
            store: &inner.store,
            clock: &*inner.clock,
            entropy: &*inner.entropy,
            policy: &inner.policy,
            namespaces: inner.fleets.class_namespaces(),
            limits: inner.limits,
        }
    }
}
