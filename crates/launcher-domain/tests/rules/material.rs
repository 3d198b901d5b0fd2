//! Course material of templates.

use std::collections::BTreeSet;

use launcher_domain::material_source::{is_kubernetes_secret, kubernetes_secret};
use launcher_domain::names::is_dns_label;
use launcher_domain::{
    FieldError, Material, MaterialConfig, MaterialKind, RepositoryDraft, SourceUrl, TemplateSettings,
};
use serde_json::{Value, json};

use crate::read;

fn settings(changes: &Value) -> Result<TemplateSettings, Vec<FieldError>> {
    let template = json!({ "name": "a", "app_type": "notebook", "image": "b", "port": 8000 });
    read(&template, changes).map(|content| content.settings)
}

fn with(material: &Value) -> Result<Option<Material>, Vec<FieldError>> {
    settings(&json!({ "material": material })).map(|settings| settings.material)
}

fn errors(result: Result<Option<Material>, Vec<FieldError>>) -> Vec<(String, &'static str)> {
    result.unwrap_err().into_iter().map(|error| (error.pointer, error.rule.code())).collect()
}

fn repository_of_template() -> Value {
    json!({ "kind": "git", "url": "https://git.example.org/101.git", "target": "stats-101" })
}

/// Returns the errors of a template whose only source is the repository with these changes, without the pointer to the
/// source.
fn errors_of_source(changes: &Value) -> Vec<(String, &'static str)> {
    let mut source = repository_of_template();
    for (name, value) in changes.as_object().unwrap() {
        source[name] = value.clone();
    }
    let found = with(&json!({ "sources": [source] })).err().unwrap_or_default();
    let field = |error: &FieldError| error.pointer.strip_prefix("/material/sources/0/").unwrap().to_owned();
    found.iter().map(|error| (field(error), error.rule.code())).collect()
}

#[test]
fn material_is_trimmed_and_gets_its_directory() {
    let digits = "AB".repeat(32);
    let material = with(&json!({ "sources": [
        { "kind": "git", "url": " https://git.example.org/101.git ", "ref": "v1", "folder": "week1/", "target": "a" },
        { "kind": "archive", "url": "http://example.org/data.zip", "ref": "", "folder": " ", "sha256": digits, "target": "b" },
    ] }))
    .unwrap()
    .unwrap();
    assert_eq!(material.directory, "/home/jovyan");
    let [git, archive] = &material.sources[..] else { panic!("{material:?}") };
    assert_eq!((git.kind, git.url.as_str()), (MaterialKind::Git, "https://git.example.org/101.git"));
    assert_eq!((git.reference.as_deref(), git.folder.as_deref()), (Some("v1"), Some("week1")));
    assert_eq!((archive.reference.as_deref(), archive.folder.as_deref()), (None, None));
    assert_eq!(archive.sha256.as_deref(), Some(digits.to_lowercase().as_str()));
    assert_eq!(with(&Value::Null).unwrap(), None);
}

#[test]
fn material_as_json_reads_as_the_same_material() {
    let written =
        json!({ "sources": [repository_of_template()], "allowed_repositories": ["https://git.example.org/"] });
    let material = with(&written).unwrap();
    assert_eq!(with(&json!(material)).unwrap(), material);
}

#[test]
fn directory_is_the_path_of_the_storage() {
    let template = |app_type: &str, storage: Value, directory: Value| {
        let material = json!({ "directory": directory, "sources": [repository_of_template()] });
        let changes = json!({ "app_type": app_type, "storage": storage, "material": material });
        settings(&changes).map(|settings| settings.material)
    };
    let kept = || json!({ "kind": "kept", "path": "/data" });
    for (app_type, storage, directory, expected) in [
        ("rstudio", Value::Null, Value::Null, "/home/rstudio"),
        ("custom", Value::Null, json!("/work/"), "/work"),
        ("notebook", Value::Null, json!("/home/jovyan/courses"), "/home/jovyan/courses"),
        ("custom", kept(), Value::Null, "/data"),
        ("notebook", kept(), json!("/data"), "/data"),
    ] {
        let material = template(app_type, storage, directory).unwrap().unwrap();
        assert_eq!(material.directory, expected, "{app_type}");
    }
    for (app_type, storage, directory, code) in [
        ("custom", Value::Null, Value::Null, "material-directory-required"),
        ("notebook", Value::Null, json!("/etc/x"), "storage-path"),
        ("notebook", Value::Null, json!("work"), "storage-path"),
        ("notebook", Value::Null, json!("/"), "storage-path"),
        ("notebook", kept(), json!("/home/jovyan"), "material-directory-of-storage"),
    ] {
        let found = errors(template(app_type, storage, directory));
        assert_eq!(found, [("/material/directory".to_owned(), code)]);
    }
}

#[test]
fn wrong_directory_and_wrong_source_are_reported_together() {
    let mut source = repository_of_template();
    source["folder"] = json!("..");
    for (app_type, directory, code) in
        [("notebook", json!("/etc"), "storage-path"), ("custom", Value::Null, "material-directory-required")]
    {
        let material = json!({ "directory": directory, "sources": [source] });
        let changes = json!({ "app_type": app_type, "material": material });
        let found = settings(&changes).unwrap_err();
        let found: BTreeSet<_> = found.iter().map(|error| (error.pointer.as_str(), error.rule.code())).collect();
        assert_eq!(found, [("/material/directory", code), ("/material/sources/0/folder", "material-folder")].into());
    }
}

#[test]
fn number_of_sources_is_limited() {
    let sources = |count: usize| {
        let source = |index: usize| {
            let mut source = repository_of_template();
            source["target"] = json!(format!("t{index}"));
            source
        };
        (0..count).map(source).collect::<Vec<_>>()
    };
    let expected = [("/material/sources".to_owned(), "material-source-count")];
    assert_eq!(errors(with(&json!({ "sources": [] }))), expected);
    assert_eq!(errors(with(&json!({ "sources": sources(6) }))), expected);
    assert_eq!(with(&json!({ "sources": sources(5) })).unwrap().unwrap().sources.len(), 5);
    let only_links = with(&json!({ "allowed_repositories": ["https://git.example.org/"] })).unwrap().unwrap();
    assert_eq!(only_links.sources, []);
}

#[test]
fn invalid_fields_of_a_source_are_reported() {
    let digits = "ab".repeat(32);
    for (changes, field, code) in [
        (json!({ "url": "file:///etc/passwd" }), "url", "material-url"),
        (json!({ "url": "https://me:secret@git.example.org/a" }), "url", "material-url"),
        (json!({ "ref": "--upload-pack=x" }), "ref", "material-reference"),
        (json!({ "ref": "a..b" }), "ref", "material-reference"),
        (json!({ "ref": "a b" }), "ref", "material-reference"),
        (json!({ "ref": "a/.b" }), "ref", "material-reference"),
        (json!({ "ref": "a.lock" }), "ref", "material-reference"),
        (json!({ "ref": "a@{1}" }), "ref", "material-reference"),
        (json!({ "sha256": digits }), "sha256", "material-only-archive"),
        (json!({ "kind": "archive" }), "sha256", "material-sha256"),
        (json!({ "kind": "archive", "sha256": "abc" }), "sha256", "material-sha256"),
        (json!({ "kind": "archive", "sha256": digits, "ref": "main" }), "ref", "material-only-git"),
        (json!({ "folder": "../secret" }), "folder", "material-folder"),
        (json!({ "folder": "/etc" }), "folder", "material-folder"),
        (json!({ "folder": "a\\b" }), "folder", "material-folder"),
        (json!({ "folder": "a/.GIT/hooks" }), "folder", "material-folder"),
        (json!({ "secret": "Statistics" }), "secret", "material-secret"),
        (json!({ "secret": "-a" }), "secret", "material-secret"),
        (json!({ "secret": "a-" }), "secret", "material-secret"),
        (json!({ "secret": "../other" }), "secret", "material-secret"),
        (json!({ "secret": "a.b" }), "secret", "material-secret"),
        (json!({ "secret": "a".repeat(64) }), "secret", "material-secret"),
        (json!({ "secret": "a", "url": "http://git.example.org/101.git" }), "url", "material-secret-https"),
        (json!({ "secret": "a", "url": "nonsense" }), "url", "material-url"),
        (json!({ "target": "" }), "target", "material-target"),
        (json!({ "target": ".ssh" }), "target", "material-target"),
        (json!({ "target": "a/b" }), "target", "material-target"),
        (json!({ "target": "a".repeat(65) }), "target", "material-target"),
    ] {
        assert_eq!(errors_of_source(&changes), [(field.to_owned(), code)], "{changes}");
    }
    for changes in [
        json!({ "ref": "feature/week-1" }),
        json!({ "ref": "0123456789012345678901234567890123456789" }),
        json!({ "kind": "archive", "sha256": digits }),
        json!({ "folder": "week 1/übung" }),
        json!({ "secret": "statistics-101" }),
        json!({ "secret": "7".repeat(63) }),
        json!({ "secret": "a", "kind": "archive", "sha256": digits, "url": "HTTPS://example.org/a.zip" }),
        json!({ "target": "Stats_101.v2" }),
    ] {
        assert_eq!(errors_of_source(&changes), [], "{changes}");
    }
}

#[test]
fn secret_is_trimmed_and_blank_secret_is_none() {
    let of = |secret: Value| {
        let mut source = repository_of_template();
        source["secret"] = secret;
        with(&json!({ "sources": [source] })).unwrap().unwrap()
    };
    assert_eq!(of(json!(" statistics ")).sources[0].secret.as_deref(), Some("statistics"));
    for public in [of(json!("")), of(Value::Null)] {
        assert_eq!(public.sources[0].secret, None);
        let stored = serde_json::to_value(&public).unwrap();
        assert_eq!(serde_json::from_value::<Material>(stored).unwrap(), public);
    }
}

#[test]
fn template_can_name_only_kubernetes_secrets_of_course_material() {
    for name in ["statistics", "0", "a-parameters"] {
        assert!(is_dns_label(name) && is_kubernetes_secret(&kubernetes_secret(name)), "{name}");
    }
    assert_eq!(kubernetes_secret("statistics"), "material-statistics");
    for other in ["workshop-proxy", "material", "material-", "material-A", "a-material-b", "material-a.b"] {
        assert!(!is_kubernetes_secret(other), "{other}");
    }
}

#[test]
fn two_sources_with_the_same_target_are_rejected() {
    let mut other = repository_of_template();
    other["target"] = json!("STATS-101");
    let found = errors(with(&json!({ "sources": [repository_of_template(), other] })));
    assert_eq!(found, [("/material/sources/1/target".to_owned(), "material-target-repeated")]);
}

#[test]
fn prefixes_of_repositories_are_https_and_at_most_ten() {
    let prefixes = |prefixes: &[&str]| with(&json!({ "allowed_repositories": prefixes }));
    assert_eq!(
        errors(prefixes(&["https://a.example/", "http://b.example/", "https://c.example/?x", "https://d.example/../"])),
        [1, 2, 3].map(|place| (format!("/material/allowed_repositories/{place}"), "material-prefix"))
    );
    let found = errors(prefixes(&["https://a.example/"; 11]));
    assert_eq!(found, [("/material/allowed_repositories".to_owned(), "material-prefix-count")]);
    let material = prefixes(&["https://a.example/team", "https://b.example/"]).unwrap().unwrap();
    let allows = |text: &str| material.allows_repository(&SourceUrl::parse(text).unwrap());
    assert!(allows("https://a.example/team/x.git") && allows("https://b.example/y"));
    assert!(!allows("https://a.example/others/x.git") && !allows("https://c.example/"));
}

/// Launches a template with one source and one allowed prefix. The launch names this repository.
fn with_repository(repository: &Value) -> Result<Vec<String>, Vec<(String, &'static str)>> {
    let prefixes = ["https://git.example.org/team/"];
    let material = json!({ "sources": [repository_of_template()], "allowed_repositories": prefixes });
    let settings = settings(&json!({ "material": material })).unwrap();
    let repository: RepositoryDraft = serde_json::from_value(repository.clone()).unwrap();
    let launched = settings
        .with_repository(repository)
        .map_err(|errors| errors.into_iter().map(|error| (error.pointer, error.rule.code())).collect::<Vec<_>>())?;
    let sources = launched.material.unwrap().sources;
    Ok(sources.iter().map(|source| format!("{} {:?} {:?}", source.target, source.reference, source.folder)).collect())
}

#[test]
fn launch_adds_an_allowed_repository_as_last_source() {
    let repository = json!({ "url": "https://git.example.org/team/ex-1.git", "ref": "v2", "folder": "a/" });
    assert_eq!(
        with_repository(&repository),
        Ok(vec!["stats-101 None None".to_owned(), "ex-1 Some(\"v2\") Some(\"a\")".to_owned()])
    );
}

#[test]
fn repository_that_a_launch_added_is_known_while_the_template_allows_it() {
    let template = |prefixes: &[&str]| {
        let material = json!({ "sources": [repository_of_template()], "allowed_repositories": prefixes });
        settings(&json!({ "material": material })).unwrap()
    };
    let allowing = template(&["https://git.example.org/team/"]);
    let draft = json!({ "url": "https://git.example.org/team/ex-1.git", "ref": "v2", "folder": "a/" });
    let launched = allowing.with_repository(serde_json::from_value(draft).unwrap()).unwrap();
    let added = launched.added_repository(&allowing).unwrap();
    assert_eq!(allowing.with_repository(added).unwrap(), launched);
    assert!(allowing.added_repository(&allowing).is_none());
    assert!(launched.added_repository(&template(&["https://other.example/"])).is_none());
}

#[test]
fn link_can_name_no_secret_and_gets_none_of_the_template() {
    let url = "https://git.example.org/team/ex-1.git";
    assert!(serde_json::from_value::<RepositoryDraft>(json!({ "url": url, "secret": "statistics" })).is_err());
    let private = json!({ "kind": "git", "url": url, "secret": "statistics", "target": "private" });
    let material = json!({ "sources": [private], "allowed_repositories": ["https://git.example.org/team/"] });
    let settings = settings(&json!({ "material": material })).unwrap();
    let launched = settings.with_repository(serde_json::from_value(json!({ "url": url })).unwrap()).unwrap();
    let secrets: Vec<_> = launched.material.unwrap().sources.into_iter().map(|source| source.secret).collect();
    assert_eq!(secrets, [Some("statistics".to_owned()), None]);
}

#[test]
fn launch_with_another_repository_is_refused() {
    for (repository, field, code) in [
        (json!({ "url": "https://git.example.org/others/a.git" }), "url", "repository-not-allowed"),
        (json!({ "url": "https://git.example.org/team/../others/a.git" }), "url", "repository-not-allowed"),
        (json!({ "url": "https://git.example.org/team/..;/others/a.git" }), "url", "repository-not-allowed"),
        (json!({ "url": "https://git.example.org/team/..%3B/others/a.git" }), "url", "repository-not-allowed"),
        (json!({ "url": "https://git.example.org.evil.example/team/a" }), "url", "repository-not-allowed"),
        (json!({ "url": "file:///etc" }), "url", "repository-not-allowed"),
        (json!({ "url": "https://git.example.org/team/a%20b" }), "url", "material-target"),
        (json!({ "url": "https://git.example.org/team/Stats-101.git" }), "url", "material-target-repeated"),
        (json!({ "url": "https://git.example.org/team/a", "ref": "--x" }), "ref", "material-reference"),
        (json!({ "url": "https://git.example.org/team/a", "folder": "../b" }), "folder", "material-folder"),
    ] {
        assert_eq!(with_repository(&repository), Err(vec![(format!("/repository/{field}"), code)]), "{repository}");
    }
    let repository = RepositoryDraft { url: "https://a.example/b".to_owned(), reference: None, folder: None };
    let refused = settings(&json!({})).unwrap().with_repository(repository).unwrap_err();
    assert_eq!(refused[0].rule.code(), "repository-not-allowed", "a template without material");
}

#[test]
fn configuration_of_the_program_has_the_documented_form() {
    let written = json!({
        "directory": "/home/jovyan",
        "sources": [{ "kind": "git", "url": "https://git.example.org/101.git", "ref": "main", "target": "a" }],
        "deadline_seconds": 60,
        "report": "/dev/termination-log",
    });
    let config: MaterialConfig = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(config.sources[0].reference.as_deref(), Some("main"));
    assert_eq!(serde_json::to_value(config).unwrap(), written, "a public source adds nothing");
    let mut private = written;
    private["sources"][0]["secret"] = json!("statistics");
    private["secrets"] = json!("/etc/secrets");
    let config: MaterialConfig = serde_json::from_value(private.clone()).unwrap();
    assert_eq!(
        (config.sources[0].secret.as_deref(), config.secrets.as_deref()),
        (Some("statistics"), Some("/etc/secrets"))
    );
    assert_eq!(serde_json::to_value(config).unwrap(), private);
}
