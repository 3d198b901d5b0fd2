//! Names of the environment variables of an app.

/// Variable with the port of the app.
pub const PORT: &str = "PORT";
/// Variable that disables the login of stock RStudio images. They need no login, because the sidecar admits only the owner.
pub const DISABLE_AUTH: &str = "DISABLE_AUTH";
/// Variable with the host of the workshop, with its port if that is not the default: `intro-abcdefghij.example.org`.
pub const WORKSHOP_HOST: &str = "WORKSHOP_HOST";
/// Variable with the origin of the workshop: `https://intro-abcdefghij.example.org`.
pub const WORKSHOP_ORIGIN: &str = "WORKSHOP_ORIGIN";
/// Variable with the URL of the app: the origin with the start path of the template.
pub const WORKSHOP_URL: &str = "WORKSHOP_URL";
/// Variables that the service sets for each app. A template's own value has no effect. Launch parameters and pod templates
/// cannot set them. [Reserved](is_reserved_variable) variables are not in this list.
pub const APP_VARIABLES: [&str; 4] = [PORT, WORKSHOP_HOST, WORKSHOP_ORIGIN, WORKSHOP_URL];
/// Name prefix of the variables that configure launcher, operator and sidecar.
const SERVICE_PREFIX: &str = "SERVICE_";

/// True for a name of ASCII letters, digits and underscores that does not start with a digit.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// True if no template may set this variable.
#[must_use]
pub fn is_reserved_variable(name: &str) -> bool {
    name == DISABLE_AUTH || name.starts_with(SERVICE_PREFIX)
}
