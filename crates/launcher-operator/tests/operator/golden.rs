//! Tests that compare the built resources of a Workshop with committed golden files, and tests of single fields.

use std::path::PathBuf;

use launcher_domain::brand::{AccentColor, BrandName};
use launcher_domain::identity::TrustedHeader;
use launcher_operator::OperatorSettings;
use launcher_operator::build::Manifests;
use launcher_operator::build::build;
use launcher_operator::validate::validate;
use launcher_workshop::Workshop;
use serde_json::json;
use similar::TextDiff;

use crate::crash_safe::with_directory;
use crate::material::{with_material, with_secret};
use crate::parameters::with_secrets;
use crate::saved_files::with_saved_files;
use crate::snapshot::with_snapshot;
use crate::storage::with_storage;
use crate::support::{built, metadata, settings, workshop};

/// Returns the resources of a Workshop as indented JSON.
fn resources(built: &Manifests) -> String {
    format!("{:#}\n", json!(built))
}

fn compare(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/operator/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, found, "{name} differs; if that is meant: UPDATE_GOLDEN=1 cargo test -p launcher-operator");
}

/// Compares the lines by which a Workshop's resources differ from those of another Workshop.
fn compare_difference(name: &str, base: fn(&mut Workshop), change: fn(&mut Workshop)) {
    let changed = built(|workshop| {
        base(workshop);
        change(workshop);
    });
    let difference = TextDiff::from_lines(resources(&built(base)), resources(&changed));
    let difference = difference.unified_diff().context_radius(1).to_string();
    // Without line numbers: another object would change those of all files.
    let lines =
        difference.lines().map(|line| if line.starts_with("@@") { "@@\n".to_owned() } else { format!("{line}\n") });
    compare(name, &lines.collect::<String>());
}

fn minimal(_: &mut Workshop) {}

fn notebook(workshop: &mut Workshop) {
    workshop.spec.app_type = "notebook".to_owned();
    workshop.spec.image = "quay.io/jupyter/base-notebook:latest".to_owned();
}

fn with_notebook_snapshot(workshop: &mut Workshop) {
    notebook(workshop);
    with_snapshot(workshop);
}

#[test]
fn minimal_workshop_matches_golden_file() {
    compare("minimal.json", &resources(&built(minimal)));
}

#[test]
fn stock_notebook_matches_golden_file() {
    compare_difference("notebook.diff", minimal, notebook);
}

#[test]
fn stock_rstudio_matches_golden_file() {
    compare_difference("rstudio.diff", minimal, |workshop| {
        workshop.spec.app_type = "rstudio".to_owned();
        workshop.spec.image = "docker.io/rocker/rstudio:4".to_owned();
        workshop.spec.port = 8787;
        workshop.spec.security_profile = "baseline".to_owned();
    });
}

#[test]
fn notebook_with_storage_matches_golden_file() {
    compare_difference("storage.diff", notebook, with_storage);
}

#[test]
fn notebook_with_crash_safe_directory_matches_golden_file() {
    compare_difference("crash_safe.diff", notebook, with_directory);
}

#[test]
fn notebook_with_snapshot_matches_golden_file() {
    compare_difference("snapshot.diff", notebook, with_snapshot);
}

#[test]
fn notebook_with_saved_files_matches_golden_file() {
    compare_difference("saved_files.diff", with_notebook_snapshot, with_saved_files);
}

#[test]
fn notebook_with_material_matches_golden_file() {
    compare_difference("material.diff", notebook, with_material);
}

#[test]
fn app_with_private_material_matches_golden_file() {
    compare_difference("private_material.diff", minimal, |workshop| {
        with_material(workshop);
        with_secret(workshop);
    });
}

#[test]
fn app_with_secret_parameters_matches_golden_file() {
    compare_difference("parameters.diff", minimal, with_secrets);
}

#[test]
fn workshop_without_auth_middleware_has_no_ingress() {
    let validated = validate(&workshop(|_| {})).unwrap();
    let mut settings = settings();
    settings.ingress_annotations.clear();
    settings.ingress_annotations.insert("cert-manager.io/cluster-issuer".to_owned(), "letsencrypt".to_owned());
    let open = build(&validated, &settings);
    assert_eq!((open.others.get("Ingress"), open.url), (None, None));
    settings.ingress_gated_elsewhere = true;
    let protected = build(&validated, &settings);
    assert!(protected.others.contains_key("Ingress"));
    assert_eq!(protected.url.as_deref(), Some("https://intro-abcdefghij.workshops.example.org/"));
}

#[test]
fn externally_routed_workshop_has_url_and_no_ingress() {
    let mut settings = settings();
    settings.workshops_routed_elsewhere = true;
    let built = build(&validate(&workshop(|_| {})).unwrap(), &settings);
    assert_eq!(built.others.get("Ingress"), None);
    assert_eq!(built.url.as_deref(), Some("https://intro-abcdefghij.workshops.example.org/"));
}

#[test]
fn blank_auth_middleware_annotation_creates_no_ingress() {
    let mut settings = settings();
    settings.ingress_annotations.values_mut().for_each(|value| *value = " ".to_owned());
    assert_eq!(build(&validate(&workshop(|_| {})).unwrap(), &settings).others.get("Ingress"), None);
}

#[test]
fn public_port_is_in_url_and_not_in_ingress_host() {
    let mut settings = settings();
    settings.workshop_port = Some(8443);
    let built = build(&validate(&workshop(|_| {})).unwrap(), &settings);
    assert_eq!(built.url.as_deref(), Some("https://intro-abcdefghij.workshops.example.org:8443/"));
    assert_eq!(built.others["Ingress"]["spec"]["rules"][0]["host"], "intro-abcdefghij.workshops.example.org");
}

#[test]
fn pod_gets_configured_node_selector_and_tolerations() {
    let validated = validate(&workshop(|_| {})).unwrap();
    let pod = |settings| build(&validated, &settings).pod.spec.unwrap();
    let anywhere = pod(settings());
    assert_eq!((anywhere.node_selector, anywhere.tolerations), (None, None));
    let mut settings = settings();
    settings.node_selector.insert("pool".to_owned(), "workshops".to_owned());
    let taint = json!({ "key": "pool", "operator": "Equal", "value": "workshops", "effect": "NoSchedule" });
    settings.tolerations.push(serde_json::from_value(taint.clone()).unwrap());
    let placed = serde_json::to_value(pod(settings)).unwrap();
    assert_eq!((&placed["nodeSelector"], &placed["tolerations"]), (&json!({ "pool": "workshops" }), &json!([taint])));
}

#[test]
fn sidecar_gets_the_settings_of_the_installation_and_the_name_of_the_course() {
    let settings = OperatorSettings {
        trusted_auth_header: TrustedHeader::parse("x-other-user").unwrap(),
        require_authentication: false,
        session_cookie_prefix: "_login".to_owned(),
        public_url: None,
        brand_name: Some(BrandName::parse("Example University").unwrap()),
        brand_color: Some(AccentColor::parse("#1b365d").unwrap()),
        ..settings()
    };
    let validated = validate(&workshop(|workshop| workshop.spec.course = Some("Statistics".to_owned()))).unwrap();
    let env = json!(build(&validated, &settings).pod.spec.unwrap().containers[1].env);
    for (name, value) in [
        ("SERVICE_OWNER_EMAIL", "alice@example.org"),
        ("SERVICE_APP_PORT", "8888"),
        ("SERVICE_TRUSTED_AUTH_HEADER", "x-other-user"),
        ("SERVICE_REQUIRE_AUTHENTICATION", "false"),
        ("SERVICE_SESSION_COOKIE_PREFIX", "_login"),
        ("SERVICE_BRAND_NAME", "Example University"),
        ("SERVICE_BRAND_COLOR", "#1b365d"),
        ("SERVICE_COURSE", "Statistics"),
    ] {
        assert!(env.as_array().unwrap().contains(&json!({ "name": name, "value": value })), "{name} in {env}");
    }
    assert!(!env.to_string().contains("SERVICE_WORKSHOP_PAGE_URL"), "no links without the address of the launcher");
}

#[test]
fn workload_objects_are_owned_by_their_workshop() {
    let built = built(|_| {});
    for metadata in metadata(&built) {
        let owners = metadata.owner_references.as_ref().unwrap();
        assert_eq!((owners.len(), owners[0].kind.as_str(), owners[0].controller), (1, "Workshop", Some(true)));
        assert_eq!(owners[0].block_owner_deletion, Some(true));
        assert_eq!(owners[0].uid, "0a1b2c3d-0000-4000-8000-000000000001");
        assert_eq!(metadata.finalizers, None);
    }
}

#[test]
fn extended_workshop_builds_same_workload_except_expiry_annotation() {
    let extended: fn(&mut Workshop) =
        |workshop| workshop.spec.expires_at = Some("2026-01-01T18:00:00Z".parse().unwrap());
    let mut found = built(extended);
    let noted = found.pod.metadata.annotations.as_mut().unwrap().get_mut("workshoplauncher.dev/expires-at").unwrap();
    assert_eq!(std::mem::replace(noted, "+7200".to_owned()), "2026-01-01T18:00:00Z");
    assert_eq!(built(|_| {}), found);
}
