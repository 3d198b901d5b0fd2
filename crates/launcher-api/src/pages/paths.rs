//! Paths to which several pages link or redirect.

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
