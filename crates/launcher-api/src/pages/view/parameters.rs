//! The values of an instance's launch parameters, in words.

use launcher_domain::Instance;

use crate::pages::language::Language;

/// A launch parameter with its value.
#[derive(Debug, Clone)]
pub(crate) struct ParameterView {
    pub(crate) label: String,
    /// The value, or a text in place of a secret.
    pub(crate) value: String,
    pub(crate) is_secret: bool,
}

/// Returns the values of the launch parameters, in the order of the template.
pub(super) fn of(t: Language, instance: &Instance) -> Vec<ParameterView> {
    let view = |name: &str, label: &str| {
        let value = instance.parameters.get(name)?;
        let shown = value.clone().unwrap_or_else(|| t.text("parameter-secret").into_owned());
        Some(ParameterView { label: label.to_owned(), value: shown, is_secret: value.is_none() })
    };
    let parameters = instance.settings.parameters.iter();
    parameters.filter_map(|parameter| view(&parameter.name, &parameter.label)).collect()
}
