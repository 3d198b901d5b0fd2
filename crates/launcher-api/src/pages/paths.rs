//! Paths to which several pages link or redirect.

use launcher_domain::Instance;
use uuid::Uuid;

pub(crate) const SAVED_WORK: &str = "/work";
pub(crate) const TEMPLATES: &str = "/admin/templates";

pub(crate) fn instance(k8s_name: &str) -> String {
    format!("/instances/{k8s_name}")
}

pub(crate) fn volume_download(volume: &str) -> String {
    format!("{SAVED_WORK}/{volume}/download")
}

pub(crate) fn snapshot_download(snapshot: Uuid) -> String {
    format!("{SAVED_WORK}/snapshots/{snapshot}/download")
}

pub(crate) fn waiting(k8s_name: &str) -> String {
    format!("/instances/{k8s_name}/wait")
}

/// Name prefix of the fields for launch parameters, in forms and in links.
pub(crate) const PREFIX: &str = "p.";

/// Returns the path of the page that launches the template of an instance again, with the values of the instance.
pub(crate) fn relaunch(instance: &Instance) -> String {
    relaunch_with(instance, instance.relaunch_snapshot())
}

/// Like [`relaunch`], with the files of a snapshot.
pub(crate) fn relaunch_with(instance: &Instance, snapshot: Option<Uuid>) -> String {
    let values = instance.parameters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in values {
        query.append_pair(&format!("{PREFIX}{name}"), value);
    }
    if let Some(snapshot) = snapshot {
        query.append_pair("snapshot", &snapshot.to_string());
    }
    let query = query.finish();
    let page = format!("/launch/{}", instance.template_id);
    if query.is_empty() { page } else { format!("{page}?{query}") }
}
