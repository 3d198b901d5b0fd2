use crate::{launcher, text};

#[test]
fn version_has_commit_of_release_build() {
    let output = launcher(&["--version"], &[]);
    let expected = match option_env!("LAUNCHER_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("launcher {} ({commit})\n", env!("CARGO_PKG_VERSION")),
        _ => concat!("launcher ", env!("CARGO_PKG_VERSION"), "\n").to_owned(),
    };
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn completions_have_visible_commands_and_their_flags() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = launcher(&["completions", shell], &[]);
        let script = text(&output.stdout);
        assert!(output.status.success(), "{shell}: {}", text(&output.stderr));
        for expected in ["move-database", "doctor", "public-url"] {
            assert!(script.contains(expected), "{shell}: {expected} is missing");
        }
        assert!(!script.contains(launcher_fleet::keeper::COMMAND), "{shell}: a hidden command is completed");
    }
}

#[test]
fn completions_of_unknown_shell_name_valid_shells() {
    let output = launcher(&["completions", "tcsh"], &[]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("bash"), "{}", text(&output.stderr));
}

#[test]
fn manual_has_page_for_each_visible_command() {
    let folder = tempfile::tempdir().unwrap();
    let output = launcher(&["man", folder.path().to_str().unwrap()], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut pages: Vec<String> =
        folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    assert_eq!(
        pages,
        [
            "launcher-class-export.1",
            "launcher-class-import.1",
            "launcher-class.1",
            "launcher-completions.1",
            "launcher-crd.1",
            "launcher-doctor.1",
            "launcher-man.1",
            "launcher-move-database.1",
            "launcher-openapi.1",
            "launcher-operator.1",
            "launcher-serve.1",
            "launcher.1",
        ]
    );
    let serve = std::fs::read_to_string(folder.path().join("launcher-serve.1")).unwrap();
    assert!(serve.contains("SERVICE_PUBLIC_URL"), "{serve}");
}

#[test]
fn manual_in_missing_folder_fails_and_names_folder() {
    let output = launcher(&["man", "/nowhere/manual"], &[]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("/nowhere/manual"), "{}", text(&output.stderr));
}
