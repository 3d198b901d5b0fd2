//! Escapes commands, arguments and variables of a container, so that Kubernetes does not expand `$(NAME)` in them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{EnvVar, EnvVarSource, SecretKeySelector};
use launcher_workshop::{parameter_key, parameters_secret};

/// Escapes a command or its arguments. Returns `None` for an empty list, so that the image's default applies.
pub(super) fn words(words: &[String]) -> Option<Vec<String>> {
    (!words.is_empty()).then(|| words.iter().map(|word| literal(word)).collect())
}

/// Converts environment variables to the form of a container, with escaped values.
pub(super) fn variables(env: BTreeMap<String, String>) -> Vec<EnvVar> {
    env.into_iter().map(|(name, value)| EnvVar { name, value: Some(literal(&value)), value_from: None }).collect()
}

/// Returns variables whose values are in the Secret of the launch parameters. The pod does not start without it.
pub(super) fn secret_variables(workshop: &str, names: &[String]) -> Vec<EnvVar> {
    let selector = |name: &String| SecretKeySelector {
        name: parameters_secret(workshop),
        key: parameter_key(name),
        optional: Some(false),
    };
    let source = |name| EnvVarSource { secret_key_ref: Some(selector(name)), ..EnvVarSource::default() };
    let variable = |name| EnvVar { name: String::clone(name), value: None, value_from: Some(source(name)) };
    names.iter().map(variable).collect()
}

/// Escapes `$` as `$$`. Kubernetes expands `$(NAME)` in commands, arguments and values, and reads `$$` as `$`. The only
/// supported reference, `$(PORT)`, was replaced before, in the same way for all fleets.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}
