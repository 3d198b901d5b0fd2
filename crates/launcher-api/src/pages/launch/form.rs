//! Values of launch parameters in forms and links.

use std::collections::BTreeMap;

use launcher_domain::template::read_values;
use launcher_domain::{FieldError, Parameter, RepositoryDraft, SecretValues};
use serde::Deserialize;

use crate::pages::launch_repository::repository;
use crate::pages::paths::PREFIX;

/// The form of the button "Launch". It has no field for the owner: the caller becomes the owner.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub(crate) struct LaunchForm {
    /// Idempotency key of the rendered form: a form that is sent twice launches once. An invalid key counts as absent.
    pub(super) idempotency_key: String,
    /// Path to open after the launch.
    pub(super) return_to: Option<String>,
    /// Repository that the launch adds to the course material.
    pub(super) repository: Option<RepositoryDraft>,
    /// Values of the launch parameters by name.
    pub(super) parameters: SecretValues,
}

/// Names of the fields that are not launch parameters.
const FIELDS: [&str; 5] = ["idempotency_key", "return_to", "repo", "ref", "path"];

impl TryFrom<Vec<(String, String)>> for LaunchForm {
    type Error = String;

    /// Reads the fields. The error names the unknown or repeated field, without its value.
    fn try_from(fields: Vec<(String, String)>) -> Result<Self, String> {
        let mut known = BTreeMap::new();
        for (name, value) in fields {
            let is_known = FIELDS.contains(&name.as_str()) || name.starts_with(PREFIX);
            if !is_known || known.insert(name.clone(), value).is_some() {
                return Err(name);
            }
        }
        let mut take = |name: &str| known.remove(name).unwrap_or_default();
        Ok(Self {
            idempotency_key: take("idempotency_key"),
            repository: repository(take("repo"), take("ref"), take("path")),
            return_to: known.remove("return_to"),
            parameters: named(known),
        })
    }
}

/// Returns the values by parameter, without the prefix of their fields.
fn named(fields: BTreeMap<String, String>) -> SecretValues {
    let name = |name: String| name.strip_prefix(PREFIX).map(str::to_owned);
    fields.into_iter().filter_map(|(field, value)| Some((name(field)?, value.trim().to_owned()))).collect()
}

/// The values that a link puts into the fields of a form.
#[derive(Debug, Default)]
pub(super) struct Prefill {
    /// Values by parameter.
    pub(super) values: SecretValues,
    /// Errors of these values.
    pub(super) errors: Vec<FieldError>,
    /// Names for which the link cannot give a value: of secrets, and of parameters that the template does not have.
    pub(super) ignored: Vec<String>,
}

impl Prefill {
    /// True without any value, also without an ignored one.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.ignored.is_empty()
    }

    /// Reads the query of a link.
    pub(super) fn of_link(parameters: &[Parameter], query: &BTreeMap<String, String>) -> Self {
        let given = named(query.clone());
        let is_open = |name: &str| parameters.iter().any(|parameter| parameter.name == name && !parameter.is_secret());
        let (used, ignored): (Vec<_>, Vec<_>) = given.reveal_all().partition(|(name, _)| is_open(name));
        let values: SecretValues = used.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut errors = read_values(parameters, &values).err().unwrap_or_default();
        errors.retain(|error| error.pointer.rsplit('/').next().is_some_and(|name| values.contains(name)));
        Self { values, errors, ignored: ignored.into_iter().map(|(name, _)| name.to_owned()).collect() }
    }

    /// Returns the values of an earlier launch, except those that the template does not accept any more.
    pub(super) fn of_launch(parameters: &[Parameter], values: &BTreeMap<String, Option<String>>) -> Self {
        let fields = values.iter().filter_map(|(name, value)| Some((format!("{PREFIX}{name}"), value.clone()?)));
        Self { ignored: Vec::new(), errors: Vec::new(), ..Self::of_link(parameters, &fields.collect()) }
    }
}
