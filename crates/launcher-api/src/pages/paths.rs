//! Paths to which several pages link or redirect.

use launcher_domain::Instance;

/// Path of the admins' list of templates.
pub(crate) const TEMPLATES: &str = "/admin/templates";

/// Returns the path of an instance's page.
pub(crate) fn instance(k8s_name: &str) -> String {
    format!("/instances/{k8s_name}")
}

/// Returns the path of an instance's waiting page.
pub(crate) fn waiting(k8s_name: &str) -> String {
    format!("/instances/{k8s_name}/wait")
}

/// Returns the path of the page that extends an instance.
pub(crate) fn extend(k8s_name: &str) -> String {
    format!("/instances/{k8s_name}/extend")
}

/// Returns the path that opens an instance's workshop.
pub(crate) fn open(k8s_name: &str) -> String {
    format!("/instances/{k8s_name}/open")
}

/// Name prefix of the fields for launch parameters, in forms and in links.
pub(crate) const PREFIX: &str = "p.";

/// Returns the path of the page that launches the template of an instance again, with the values of the instance.
pub(crate) fn relaunch(instance: &Instance) -> String {
    let values = instance.parameters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in values {
        query.append_pair(&format!("{PREFIX}{name}"), value);
    }
    let query = query.finish();
    let page = format!("/launch/{}", instance.template_id);
    if query.is_empty() { page } else { format!("{page}?{query}") }
}
