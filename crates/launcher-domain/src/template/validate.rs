//! Validation: turns a draft into settings, or into the list of all its errors.

use std::collections::BTreeMap;

use super::app_type::AppType;
use super::draft::{ResourcesDraft, TemplateDraft};
use super::settings::{Resources, TemplateSettings};
use crate::quantity::Quantity;

const MAX_NAME: usize = 80;
const MAX_DESCRIPTION: usize = 4000;
const MAX_IMAGE: usize = 255;
const MAX_WORDS: usize = 64;
const MAX_WORD_BYTES: usize = 4096;
const MAX_ENV: usize = 64;
const MAX_ENV_NAME: usize = 128;
const MAX_ENV_VALUE_BYTES: usize = 32 * 1024;
/// Ports of the sidecar, which listens in the same pod.
const SIDECAR_PORTS: [i64; 2] = [8080, 8081];
const SHORTEST_SECONDS: i64 = 60;
const LONGEST_SECONDS: i64 = 30 * 24 * 3600;
const LIFETIME_SECONDS: u32 = 7200;
const EXTENSION_SECONDS: u32 = 3600;
const MAX_LIFETIME_SECONDS: u32 = 28_800;

/// One invalid field of a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Location of the field: a JSON pointer (RFC 6901), such as `/env/PATH`.
    pub pointer: String,
    /// The rule that the value breaks.
    pub detail: String,
}

/// Collects all errors: validation continues after an error, so that an admin sees all errors at once.
#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn add(&mut self, pointer: impl Into<String>, detail: impl Into<String>) {
        self.0.push(FieldError { pointer: pointer.into(), detail: detail.into() });
    }

    fn check(&mut self, holds: bool, pointer: &str, detail: &str) {
        if !holds {
            self.add(pointer, detail);
        }
    }
}

impl TemplateDraft {
    /// Returns the settings, with the default of each missing field.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn validate(self) -> Result<TemplateSettings, Vec<FieldError>> {
        let mut errors = Errors::default();
        let name = self.name.trim().to_owned();
        errors.check(
            (1..=MAX_NAME).contains(&name.chars().count()) && !has_invisible(&name),
            "/name",
            "1 to 80 characters on one line, without invisible characters",
        );
        errors.check(
            self.description.chars().count() <= MAX_DESCRIPTION && !self.description.contains('\0'),
            "/description",
            "at most 4,000 characters, without NUL",
        );
        let image = self.image.trim().to_owned();
        errors.check(
            is_image(&image),
            "/image",
            "an image reference of 1 to 255 characters, as in quay.io/jupyter/base-notebook:latest",
        );
        let port = port(self.app_type, self.port, &mut errors);
        words(&self.command, "/command", &mut errors);
        words(&self.args, "/args", &mut errors);
        env(&self.env, &mut errors);
        let [lifetime_seconds, extension_seconds, max_lifetime_seconds] = self.durations(&mut errors);
        let resources = resources(self.resources, &mut errors);
        match (resources, errors.0.is_empty()) {
            (Some(resources), true) => Ok(TemplateSettings {
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
                lifetime_seconds,
                extension_seconds,
                max_lifetime_seconds,
            }),
            _ => Err(errors.0),
        }
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
        errors.check(lifetime <= longest_or_default, "/max_lifetime_seconds", "at least lifetime_seconds");
        errors.check(extension <= longest_or_default, "/extension_seconds", "at most max_lifetime_seconds");
        [lifetime, extension, longest_or_default]
    }
}

/// True when a text has an invisible character that could make it look like another text. The zero-width joiner and
/// non-joiner are allowed between two visible characters outside of ASCII: Persian and Indic words and emoji need them.
fn has_invisible(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let joins = |place: Option<usize>| {
        let neighbour = place.and_then(|place| characters.get(place));
        neighbour.is_some_and(|&next| !next.is_ascii() && !next.is_whitespace() && !is_invisible(next))
    };
    characters.iter().enumerate().any(|(place, &character)| {
        let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
        is_invisible(character) && !(is_joiner && joins(place.checked_sub(1)) && joins(place.checked_add(1)))
    })
}

/// True for control characters, and for invisible characters that reorder or join the visible text (Unicode 16, 23.2:
/// zero-width and bidirectional controls).
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// True when an image reference has only allowed characters. The registry decides whether the image exists.
fn is_image(image: &str) -> bool {
    (1..=MAX_IMAGE).contains(&image.len())
        && image.starts_with(|first: char| first.is_ascii_alphanumeric())
        && image.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@+".contains(&byte))
}

fn port(app_type: AppType, port: Option<i64>, errors: &mut Errors) -> u16 {
    let Some(port) = port.or(app_type.default_port().map(i64::from)) else {
        errors.add("/port", "required for app_type custom: the port that the app listens on");
        return 0;
    };
    if SIDECAR_PORTS.contains(&port) {
        errors.add("/port", "8080 and 8081 are the sidecar's; let the app listen on another port");
    }
    match u16::try_from(port) {
        Ok(port) if port > 0 => port,
        _ => {
            errors.add("/port", "1 to 65535");
            0
        }
    }
}

fn words(words: &[String], pointer: &str, errors: &mut Errors) {
    errors.check(words.len() <= MAX_WORDS, pointer, "at most 64 words");
    for (index, word) in words.iter().enumerate() {
        if word.len() > MAX_WORD_BYTES || word.contains('\0') {
            errors.add(format!("{pointer}/{index}"), "at most 4,096 bytes, without NUL");
        }
    }
}

fn env(env: &BTreeMap<String, String>, errors: &mut Errors) {
    errors.check(env.len() <= MAX_ENV, "/env", "at most 64 variables");
    for (name, value) in env {
        let pointer = format!("/env/{}", name.replace('~', "~0").replace('/', "~1"));
        let identifier = !name.is_empty()
            && name.len() <= MAX_ENV_NAME
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !identifier {
            errors.add(&pointer, "a variable's name has letters, digits and _, and does not start with a digit");
        } else if name == "DISABLE_AUTH" || name.starts_with("SERVICE_") {
            errors.add(&pointer, "DISABLE_AUTH and SERVICE_… are set by the service; choose another name");
        }
        if value.len() > MAX_ENV_VALUE_BYTES || value.contains('\0') {
            errors.add(&pointer, "a variable's value has at most 32 KiB, without NUL");
        }
    }
}

fn seconds(given: Option<i64>, pointer: &str, errors: &mut Errors) -> Option<u32> {
    let given = given?;
    let seconds = u32::try_from(given).ok().filter(|_| (SHORTEST_SECONDS..=LONGEST_SECONDS).contains(&given));
    if seconds.is_none() {
        errors.add(pointer, "60 to 2592000 seconds (one minute to 30 days)");
    }
    seconds
}

fn resources(draft: ResourcesDraft, errors: &mut Errors) -> Option<Resources> {
    let mut read = |given: Option<String>, default: &str, pointer: &str| {
        let text = given.unwrap_or_else(|| default.to_owned());
        Quantity::parse(&text).map_err(|error| errors.add(pointer, error.to_string())).ok()
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
    errors.check(
        resources.cpu_request.compare(&resources.cpu_limit).is_le(),
        "/resources/cpu_request",
        "at most cpu_limit",
    );
    errors.check(
        resources.memory_request.compare(&resources.memory_limit).is_le(),
        "/resources/memory_request",
        "at most memory_limit",
    );
    Some(resources)
}
