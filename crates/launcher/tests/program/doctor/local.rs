use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Visit;
use crate::serving::Serving;

const SEEDS: &str = r#"[{"template_id": "01900000-0000-7000-8000-000000000001", "name": "JupyterLab",
    "description": "", "app_type": "notebook", "image": "jupyter"}]"#;

/// Creates an executable file from a shell script. The script stands for an app's program, whose version the doctor
/// asks for.
fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn doctor_accepts_healthy_local_fleet_with_and_without_running_launcher() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let seeds = other.path().join("seeds.json");
    std::fs::write(&seeds, SEEDS).unwrap();
    let jupyter = program(other.path(), "jupyter-lab", "echo 4.5.0");
    let secret = other.path().join("proxy-secret");
    std::fs::write(&secret, "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    let settings = [
        ("SERVICE_SEED_TEMPLATES", seeds.to_str().unwrap()),
        ("SERVICE_LOCAL_JUPYTER", jupyter.to_str().unwrap()),
        ("SERVICE_PROXY_SECRET_FILE", secret.to_str().unwrap()),
    ];
    let serving = Serving::start_with(data.path(), &settings);
    let visit = Visit::at(data.path(), &settings);
    visit.says("ok", "data directory", &["a launcher uses it now"]);
    visit.says("ok", "JupyterLab", &["4.5.0"]);
    assert_eq!(serving.stop().0, Some(0));

    let visit = Visit::at(data.path(), &settings);
    visit.says("ok", "data directory", &["no launcher uses it now"]);
    let (lines, summary) = visit.said.split_once("\n\n").unwrap();
    // The only expected warning is that the local fleet does not isolate users.
    let warnings: Vec<&str> = lines.lines().filter(|line| !line.starts_with("ok    ")).collect();
    assert!(matches!(warnings[..], [line] if line.starts_with("warn  isolation")), "{lines}");
    for check in ["settings", "authentication", "admins", "seed templates", "database", "disk", "schema", "writes"] {
        visit.says("ok", check, &[]);
    }
    for check in ["workshops", "ports", "fleet binding"] {
        visit.says("ok", check, &[]);
    }
    visit.is_silent_about("edge proxy");
    visit.is_silent_about("API server");
    let count = lines.lines().count();
    let ok = count - 1;
    assert_eq!(summary.trim_end(), format!("{count} checks: {ok} ok, 1 warn, 0 FAIL"));

    let missing = [settings[0], ("SERVICE_LOCAL_JUPYTER", "/nowhere/jupyter-lab")];
    Visit::at(data.path(), &missing).says(
        "FAIL",
        "JupyterLab",
        &["/nowhere/jupyter-lab cannot be started", "make run"],
    );
    let broken = program(other.path(), "broken", "echo no module named jupyterlab >&2; exit 1");
    let broken = [settings[0], ("SERVICE_LOCAL_JUPYTER", broken.to_str().unwrap())];
    Visit::at(data.path(), &broken).says("FAIL", "JupyterLab", &["no module named jupyterlab"]);
}

#[test]
fn doctor_warns_if_the_program_for_course_material_is_missing() {
    let other = tempfile::tempdir().unwrap();
    let seeds = other.path().join("seeds.json");
    let material = r#""app_type": "notebook", "material": {"sources": [{"kind": "git", "target": "lesson",
        "url": "https://git.example.org/lesson.git"}]}"#;
    std::fs::write(&seeds, SEEDS.replace(r#""app_type": "notebook""#, material)).unwrap();
    let settings = [("SERVICE_SEED_TEMPLATES", seeds.to_str().unwrap())];
    let data = tempfile::tempdir().unwrap();
    // A launcher alone in its directory.
    let alone = other.path().join("launcher");
    std::fs::copy(env!("CARGO_BIN_EXE_launcher"), &alone).unwrap();
    assert_eq!(Serving::start_with(data.path(), &settings).stop().0, Some(0));
    let directory = [("SERVICE_DATA_DIR", data.path().to_str().unwrap())];
    Visit::of(&alone, &[&directory[..], &settings].concat()).says(
        "warn",
        "course material",
        &["launcher-material", "is missing"],
    );
}

#[test]
fn doctor_warns_of_local_fleet_with_public_url() {
    let public = [("SERVICE_PUBLIC_URL", "http://launcher.invalid")];
    Visit::with(&public).says("warn", "isolation", &["SERVICE_PUBLIC_URL", "does not isolate users"]);
}

#[test]
fn doctor_warns_of_local_fleet_with_authentication() {
    Visit::with(&[]).says("warn", "isolation", &["authentication is required", "does not isolate users", "Kubernetes"]);
    let development = [("SERVICE_REQUIRE_AUTHENTICATION", "false"), ("SERVICE_DEV_IDENTITY", "dev@example.org")];
    Visit::with(&development).is_silent_about("isolation");
}
