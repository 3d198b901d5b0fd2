//! Validation: turns a draft into the content of a template, or into the list of all its errors.

use std::collections::BTreeMap;

use super::app_type::AppType;
use super::draft::{ResourcesDraft, TemplateDraft};
use super::field_error::{Errors, FieldError};
use super::listing::Listing;
use super::parameter;
use super::pod_template;
use super::rule::FieldRule;
use super::settings::{Resources, TemplateSettings};
use super::variable::check_variable;
use super::visible::has_invisible;
use crate::quantity::{Quantity, QuantityError};

const MAX_NAME: usize = 80;
const MAX_DESCRIPTION: usize = 4000;
const MAX_IMAGE: usize = 255;
const MAX_WORDS: usize = 64;
const MAX_WORD_BYTES: usize = 4096;
const MAX_ENV: usize = 64;
const MAX_ENV_VALUE_BYTES: usize = 32 * 1024;
/// Ports of the sidecar, which listens in the same pod.
const SIDECAR_PORTS: [i64; 2] = [8080, 8081];
/// Least memory that a template may request: 1 MiB, in thousandths of a byte. It refuses `512m`, which other programs
/// read as mebibytes, and Kubernetes as half a byte.
const LEAST_MEMORY_MILLI: u128 = 1000 << 20;
const SHORTEST_SECONDS: i64 = 60;
const LONGEST_SECONDS: i64 = 30 * 24 * 3600;
const LIFETIME_SECONDS: u32 = 7200;
const EXTENSION_SECONDS: u32 = 3600;
const MAX_LIFETIME_SECONDS: u32 = 28_800;

/// Validated content of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidTemplate {
    /// Settings that each launched instance copies.
    pub settings: TemplateSettings,
    /// Presentation in the catalog, and the slug of its link.
    pub listing: Listing,
    /// True when users can launch the template.
    pub active: bool,
}

impl TemplateDraft {
    /// Returns the content of the template, with the default of each missing field.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn validate(mut self) -> Result<ValidTemplate, Vec<FieldError>> {
        let mut errors = Errors::default();
        let active = self.active;
        let (tags, icon, unlisted, slug) = (std::mem::take(&mut self.tags), self.icon, self.unlisted, self.slug.take());
        let settings = self.settings(&mut errors);
        let listing = Listing::validated(tags, icon, unlisted, slug, &mut errors);
        match (settings, errors.0.is_empty()) {
            (Some(settings), true) => Ok(ValidTemplate { settings, listing, active }),
            _ => Err(errors.0),
        }
    }

    /// Returns the settings; `None` if a quantity is unreadable. After an error, the settings are meaningless.
    fn settings(self, errors: &mut Errors) -> Option<TemplateSettings> {
        let name = self.name.trim().to_owned();
        let is_name = (1..=MAX_NAME).contains(&name.chars().count()) && !has_invisible(&name);
        errors.check(is_name, "/name", FieldRule::Name);
        let is_description = self.description.chars().count() <= MAX_DESCRIPTION && !self.description.contains('\0');
        errors.check(is_description, "/description", FieldRule::Description);
        let image = self.image.trim().to_owned();
        errors.check(is_image(&image), "/image", FieldRule::Image);
        let port = port(self.app_type, self.port, errors);
        words(&self.command, "/command", errors);
        words(&self.args, "/args", errors);
        env(&self.env, errors);
        let [lifetime_seconds, extension_seconds, max_lifetime_seconds] = self.durations(errors);
        let pod_template = self.pod_template.and_then(pod_template::without_nulls);
        let is_storable = pod_template.as_ref().is_none_or(pod_template::is_storable_pod_template);
        errors.check(is_storable, "/pod_template", FieldRule::PodTemplateSize);
        let storage = self.storage.map(|storage| storage.validated(self.app_type, errors));
        let parameters = parameter::validated(self.parameters, &self.env, errors);
        let resources = resources(self.resources, errors)?;
        Some(TemplateSettings {
            name,
            description: self.description,
            app_type: self.app_type,
            image,
            port,
            command: self.command,
            args: self.args,
            env: self.env,
            resources,
            security_profile: self.security_profile,
            pod_template,
            storage: storage.flatten(),
            parameters,
            lifetime_seconds,
            extension_seconds,
            max_lifetime_seconds,
        })
    }

    /// Returns lifetime, extension and maximum lifetime in seconds. The defaults of lifetime and extension are at most
    /// the maximum lifetime. The default of the maximum lifetime is at least the lifetime.
    fn durations(&self, errors: &mut Errors) -> [u32; 3] {
        let lifetime = seconds(self.lifetime_seconds, "/lifetime_seconds", errors);
        let extension = seconds(self.extension_seconds, "/extension_seconds", errors);
        let longest = seconds(self.max_lifetime_seconds, "/max_lifetime_seconds", errors);
        let longest_or_default = longest.unwrap_or(MAX_LIFETIME_SECONDS.max(lifetime.unwrap_or(0)));
        let lifetime = lifetime.unwrap_or(LIFETIME_SECONDS.min(longest_or_default));
        let extension = extension.unwrap_or(EXTENSION_SECONDS.min(longest_or_default));
        errors.check(lifetime <= longest_or_default, "/max_lifetime_seconds", FieldRule::MaxLifetimeTooShort);
        errors.check(extension <= longest_or_default, "/extension_seconds", FieldRule::ExtensionTooLong);
        [lifetime, extension, longest_or_default]
    }
}

/// True when an image reference has only allowed characters. The registry decides whether the image exists.
fn is_image(image: &str) -> bool {
    (1..=MAX_IMAGE).contains(&image.len())
        && image.starts_with(|first: char| first.is_ascii_alphanumeric())
        && image.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@+".contains(&byte))
}

fn port(app_type: AppType, port: Option<i64>, errors: &mut Errors) -> u16 {
    let Some(port) = port.or(app_type.default_port().map(i64::from)) else {
        errors.add("/port", FieldRule::PortRequired);
        return 0;
    };
    if SIDECAR_PORTS.contains(&port) {
        errors.add("/port", FieldRule::PortReserved);
    }
    match u16::try_from(port) {
        Ok(port) if port > 0 => port,
        _ => {
            errors.add("/port", FieldRule::PortRange);
            0
        }
    }
}

fn words(words: &[String], pointer: &str, errors: &mut Errors) {
    errors.check(words.len() <= MAX_WORDS, pointer, FieldRule::WordCount);
    for (index, word) in words.iter().enumerate() {
        if word.len() > MAX_WORD_BYTES || word.contains('\0') {
            errors.add(format!("{pointer}/{index}"), FieldRule::Word);
        }
    }
}

fn env(env: &BTreeMap<String, String>, errors: &mut Errors) {
    errors.check(env.len() <= MAX_ENV, "/env", FieldRule::VariableCount);
    for (name, value) in env {
        let pointer = format!("/env/{}", name.replace('~', "~0").replace('/', "~1"));
        check_variable(name, &pointer, errors);
        if value.len() > MAX_ENV_VALUE_BYTES || value.contains('\0') {
            errors.add(&pointer, FieldRule::VariableValue);
        }
    }
}

fn seconds(given: Option<i64>, pointer: &str, errors: &mut Errors) -> Option<u32> {
    let given = given?;
    let seconds = u32::try_from(given).ok().filter(|_| (SHORTEST_SECONDS..=LONGEST_SECONDS).contains(&given));
    if seconds.is_none() {
        errors.add(pointer, FieldRule::Duration);
    }
    seconds
}

fn resources(draft: ResourcesDraft, errors: &mut Errors) -> Option<Resources> {
    let mut read = |given: Option<String>, default: &str, pointer: &str| {
        let text = given.unwrap_or_else(|| default.to_owned());
        let rule = |QuantityError(text)| FieldRule::Quantity { text: format!("{text:?}") };
        Quantity::parse(&text).map_err(|error| errors.add(pointer, rule(error))).ok()
    };
    let cpu_request = read(draft.cpu_request, "100m", "/resources/cpu_request");
    let cpu_limit = read(draft.cpu_limit, "2", "/resources/cpu_limit");
    let memory_request = read(draft.memory_request, "256Mi", "/resources/memory_request");
    let memory_limit = read(draft.memory_limit, "2Gi", "/resources/memory_limit");
    let resources = Resources {
        cpu_request: cpu_request?,
        cpu_limit: cpu_limit?,
        memory_request: memory_request?,
        memory_limit: memory_limit?,
    };
    for (pointer, memory) in
        [("/resources/memory_request", &resources.memory_request), ("/resources/memory_limit", &resources.memory_limit)]
    {
        let text = format!("{:?}", memory.as_str());
        errors.check(memory.milli() >= LEAST_MEMORY_MILLI, pointer, FieldRule::MemoryTooSmall { text });
    }
    errors.check(
        resources.cpu_request.compare(&resources.cpu_limit).is_le(),
        "/resources/cpu_request",
        FieldRule::CpuRequestTooLarge,
    );
    errors.check(
        resources.memory_request.compare(&resources.memory_limit).is_le(),
        "/resources/memory_request",
        FieldRule::MemoryRequestTooLarge,
    );
    Some(resources)
}
