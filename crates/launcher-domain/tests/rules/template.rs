use launcher_domain::local_path::LocalPath;
use launcher_domain::quantity::Quantity;
use launcher_domain::template::is_reserved_variable;
use launcher_domain::{
    AppType, AtExpiry, FieldError, FieldRule, Icon, Listing, MaterialKind, ParameterKind, SecurityProfile, StorageKind,
    TemplateContent, TemplateSettings,
};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::{read, template};

fn minimal() -> Value {
    json!({"name": "Files", "app_type": "custom", "image": "python:3", "port": 8000})
}

/// Reads the minimal template with these fields replaced.
pub(crate) fn with(changes: &Value) -> Result<TemplateSettings, Vec<FieldError>> {
    read(&minimal(), changes).map(|content| content.settings)
}

#[test]
fn omitted_fields_get_defaults() {
    let settings = with(&json!({})).unwrap();
    assert_eq!(
        (settings.lifetime_seconds, settings.extension_seconds, settings.max_lifetime_seconds),
        (7200, 3600, 28_800)
    );
    assert_eq!(settings.security_profile, SecurityProfile::Restricted);
    assert_eq!(settings.resources.memory_limit.as_str(), "2Gi");
}

#[test]
fn pod_template_loses_null_values_and_has_at_most_32_kib() {
    let pod_template = |value: Value| with(&json!({ "pod_template": value }));
    for empty in [json!(null), json!({}), json!({"spec": null})] {
        assert_eq!(pod_template(empty).unwrap().pod_template, None);
    }
    let written = json!({"spec": {"a": [null, {"b": null, "c": 1}], "d": {}}});
    let stored = pod_template(written).unwrap().pod_template;
    assert_eq!(stored.map(Value::from), Some(json!({"spec": {"a": [{"c": 1}], "d": {}}})));
    let with_bytes = |count: usize| json!({"a": "x".repeat(count - r#"{"a":""}"#.len())});
    assert_eq!(pod_template(with_bytes(32 * 1024)).err(), None);
    let errors = pod_template(with_bytes(32 * 1024 + 1)).unwrap_err();
    assert_eq!((&*errors[0].pointer, &*errors[0].detail()), ("/pod_template", "at most 32 KiB as JSON, without NUL"));
    for with_nul in [json!({"a": [{"b": "\0"}]}), json!({"\0": 1})] {
        assert_eq!(pod_template(with_nul).unwrap_err()[0].pointer, "/pod_template");
    }
}

#[test]
fn default_port_depends_on_app_type() {
    for (kind, port) in [("rstudio", 8787), ("notebook", 8888)] {
        let content = read(&json!({"name": "x", "app_type": kind, "image": "x"}), &json!({})).unwrap();
        assert_eq!(content.settings.port, port);
    }
    let errors = with(&json!({"port": null})).unwrap_err();
    assert_eq!(errors[0].pointer, "/port");
    assert!(errors[0].detail().starts_with("required for app_type custom"));
}

#[test]
fn field_error_points_to_the_invalid_field() {
    let words: Vec<&str> = vec!["x"; 65];
    for (changes, pointer) in [
        (json!({"name": "  "}), "/name"),
        (json!({"name": "x".repeat(81)}), "/name"),
        (json!({"name": "a\nb"}), "/name"),
        (json!({"name": "R\u{202e}Studio"}), "/name"),
        (json!({"name": "zero\u{200b}width"}), "/name"),
        (json!({"description": "x".repeat(4001)}), "/description"),
        (json!({"image": ""}), "/image"),
        (json!({"image": "a b"}), "/image"),
        (json!({"image": "x".repeat(256)}), "/image"),
        (json!({"port": 0}), "/port"),
        (json!({"port": 65536}), "/port"),
        (json!({"port": 8080}), "/port"),
        (json!({"port": 8081}), "/port"),
        (json!({"start_path": "vnc.html"}), "/start_path"),
        (json!({"start_path": "//example.org/"}), "/start_path"),
        (json!({"start_path": "/_launcher/frame"}), "/start_path"),
        (json!({"start_path": "/a b"}), "/start_path"),
        (json!({"command": words}), "/command"),
        (json!({"args": ["ok", "nul\u{0}"]}), "/args/1"),
        (json!({"env": {"1X": "y"}}), "/env/1X"),
        (json!({"env": {"a/b~c": "y"}}), "/env/a~1b~0c"),
        (json!({"env": {"DISABLE_AUTH": "false"}}), "/env/DISABLE_AUTH"),
        (json!({"env": {"SERVICE_OWNER_EMAIL": "x"}}), "/env/SERVICE_OWNER_EMAIL"),
        (json!({"resources": {"memory_limit": "2 GB"}}), "/resources/memory_limit"),
        (json!({"resources": {"cpu_request": "4", "cpu_limit": "2000m"}}), "/resources/cpu_request"),
        (json!({"lifetime_seconds": 59}), "/lifetime_seconds"),
        (json!({"extension_seconds": 2_592_001}), "/extension_seconds"),
        (json!({"lifetime_seconds": 600, "max_lifetime_seconds": 300}), "/max_lifetime_seconds"),
        (json!({"extension_seconds": 9000, "max_lifetime_seconds": 8000}), "/extension_seconds"),
    ] {
        let errors = with(&changes).unwrap_err();
        let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(pointers, [pointer], "{changes}");
        assert!(!errors[0].detail().is_empty());
    }
}

#[test]
fn start_path_is_a_path_of_the_app_and_not_public() {
    let settings = |body| with(&body).unwrap();
    for (text, path) in
        [(json!(" /vnc.html?autoconnect=1#top "), Some("/vnc.html?autoconnect=1#top")), (json!(" "), None)]
    {
        let settings = settings(json!({ "start_path": text }));
        assert_eq!(settings.start_path.as_ref().map(LocalPath::as_str), path);
        assert_eq!(serde_json::from_value::<TemplateSettings>(json!(settings)).unwrap(), settings, "stored and read");
        assert_eq!(settings.public().start_path, None);
    }
}

#[test]
fn all_field_errors_are_reported_together() {
    let errors = with(&json!({"name": "", "image": "", "port": 0, "lifetime_seconds": 1})).unwrap_err();
    assert_eq!(errors.len(), 4);
}

#[test]
fn default_lifetimes_adapt_to_given_maximum_lifetime() {
    let settings = with(&json!({"max_lifetime_seconds": 600})).unwrap();
    assert_eq!((settings.lifetime_seconds, settings.extension_seconds), (600, 600));
    assert_eq!(with(&json!({"lifetime_seconds": 90_000})).unwrap().max_lifetime_seconds, 90_000);
}

#[test]
fn wrong_type_unknown_field_and_missing_field_are_reported_with_other_errors() {
    let body = json!({
        "app_type": "notebok", "image": "a b", "memroy_limit": "1Gi", "port": "8000", "args": ["x", 5],
        "env": {"A": true, "1B": ""}, "resources": {"cpu": "1", "memory_limit": 5}, "security_profile": null,
        "pod_template": [], "storage": {"size": "much", "at_expiry": "never", "path": "/work", "a/b": 1},
        "material": {"sources": [{"url": "https://a.example/b", "branch": "main", "target": "b"}, "b"]},
        "parameters": [{"name": "A", "label": 1.5, "kind": "list", "required": "yes"}, null],
        "lifetime_seconds": "2h", "extension_seconds": 90_000, "active": 1, "tags": "maps", "icon": {}, "unlisted": null, "slug": "-",
    });
    let unknown = |known: &str| format!("is not a field here; the fields are: {known}");
    let choice = |known: &str| format!("must be one of: {known}");
    let (missing, text, number) = ("is required, and missing", "must be a string", "must be a whole number");
    let (boolean, list, object) = ("must be true or false", "must be an array", "must be an object");
    let of_template = TemplateSettings::FIELDS.iter().chain(&["active"]).chain(Listing::FIELDS);
    let of_template = of_template.copied().collect::<Vec<_>>().join(", ");
    let expected = [
        ("/memroy_limit", unknown(&of_template)),
        ("/name", missing.into()),
        ("/app_type", choice("rstudio, notebook, custom")),
        ("/image", FieldRule::Image.to_string()),
        ("/port", number.into()),
        ("/args/1", text.into()),
        ("/env/1B", FieldRule::VariableName.to_string()),
        ("/env/A", text.into()),
        ("/resources/cpu", unknown("cpu_request, cpu_limit, memory_request, memory_limit")),
        ("/resources/memory_limit", text.into()),
        ("/security_profile", text.into()),
        ("/pod_template", object.into()),
        ("/storage/a~1b", unknown("kind, size, path, at_expiry")),
        ("/storage/kind", missing.into()),
        ("/storage/size", FieldRule::StorageSize { text: "\"much\"".to_owned() }.to_string()),
        ("/storage/at_expiry", choice("end, suspend")),
        ("/material/sources/0/branch", unknown("kind, url, ref, sha256, folder, secret, target")),
        ("/material/sources/0/kind", missing.into()),
        ("/material/sources/1", object.into()),
        ("/parameters/0/label", text.into()),
        ("/parameters/0/kind", choice("text, choice, number, secret")),
        ("/parameters/0/required", boolean.into()),
        ("/parameters/1", object.into()),
        ("/lifetime_seconds", number.into()),
        ("/extension_seconds", FieldRule::ExtensionTooLong.to_string()),
        ("/active", boolean.into()),
        ("/tags", list.into()),
        ("/icon", text.into()),
        ("/unlisted", boolean.into()),
        ("/slug", FieldRule::Slug.to_string()),
    ];
    let errors = read(&body, &json!({})).unwrap_err();
    let found: Vec<_> = errors.iter().map(|error| (error.pointer.as_str(), error.detail())).collect();
    assert_eq!(found, expected);
}

#[test]
fn program_with_spaces_in_its_name_is_refused_with_its_words() {
    for (command, words) in [
        (json!(["python app.py"]), r#"["python","app.py"]"#),
        (json!(["sh -c 'a b'", "x y"]), r#"["sh","-c","a b","x y"]"#),
        (json!(["a | b"]), r#"["a","|","b"]"#),
    ] {
        let errors = with(&json!({ "command": command, "args": ["a b"] })).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!((&*errors[0].pointer, errors[0].rule.code()), ("/command", "command-unsplit"));
        assert!(errors[0].detail().ends_with(words), "{}", errors[0].detail());
    }
    assert!(with(&json!({ "command": ["sh", "-c", "a b"] })).is_ok());
}

#[test]
fn missing_fields_do_not_hide_rules_between_fields() {
    let body = json!({
        "lifetime_seconds": 600, "max_lifetime_seconds": 300,
        "material": { "sources": [{ "kind": "archiv", "url": "ftp://a", "target": "a" }, { "kind": "git", "url": "https://a.example/b" }] },
        "parameters": [{ "name": "A", "kind": "choise", "label": "A" }, { "name": "A", "kind": "choice" }],
    });
    let errors = read(&body, &json!({})).unwrap_err();
    let found: Vec<_> = errors.iter().map(|error| (error.pointer.as_str(), error.rule.code())).collect();
    let expected = [
        ("/name", "field-missing"),
        ("/app_type", "field-missing"),
        ("/image", "field-missing"),
        ("/material/sources/0/kind", "choice"),
        ("/material/sources/1/target", "field-missing"),
        ("/material/sources/0/url", "material-url"),
        ("/parameters/0/kind", "choice"),
        ("/parameters/1/label", "field-missing"),
        ("/parameters/1/name", "parameter-repeated"),
        ("/parameters/1/choices", "parameter-choices"),
        ("/max_lifetime_seconds", "max-lifetime-too-short"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn template_saved_without_changes_keeps_its_content() {
    let changes = json!({
        "description": "quotes \" ' and {{braces}}\nnewline", "args": ["--x={\"a\": 1}", "a b", ""],
        "env": {"A": "line\nline", "B": "=\"'$("}, "active": false, "tags": ["a"], "slug": "ab",
    });
    let content = read(&minimal(), &changes).unwrap();
    let saved = TemplateContent::from(&template(content.clone())).to_json();
    assert_eq!(TemplateContent::read(&saved).unwrap(), content);
}

#[test]
fn quantities_compare_by_amount() {
    let quantity = |text: &str| Quantity::parse(text).unwrap();
    for (left, right) in [("1000m", "1"), ("1Gi", "1024Mi"), ("1.5G", "1500M"), ("0.25", "250m")] {
        assert!(quantity(left).compare(&quantity(right)).is_eq(), "{left} {right}");
    }
    assert!(quantity("2G").compare(&quantity("2Gi")).is_lt());
    for text in ["", "0", "0m", "-1", "1e3", "1.2345", "Mi", "1 Gi", "1mi", ".5", "1.", "١"] {
        assert!(Quantity::parse(text).is_err(), "{text:?}");
    }
}

/// Generates arbitrary text, and text that is close to the validation rules.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9_./:-]{1,20}",
        2 => "[ -~\\r\\n\\t]{0,30}",
        1 => "\\PC{0,20}",
        1 => any::<String>(),
        1 => "(SERVICE_X|DISABLE_AUTH|PORT|\u{202e}|\u{200b}|\u{0}|~/)",
    ]
}

fn amount() -> impl Strategy<Value = Option<String>> {
    prop_oneof![4 => Just(None), 4 => "[1-9][0-9]{0,2}(m|Mi|Gi)?".prop_map(Some), 1 => text().prop_map(Some)]
}

fn memory() -> impl Strategy<Value = Option<String>> {
    prop_oneof![4 => Just(None), 4 => "[1-9][0-9]{0,2}(Mi|Gi)".prop_map(Some), 1 => amount()]
}

fn seconds() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![4 => Just(None), 4 => (0..100_000_i64).prop_map(Some), 1 => any::<i64>().prop_map(Some)]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i16>().prop_map(|number| json!(f64::from(number) / 4.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3).prop_map(|object| json!(object)),
        ]
    })
}

prop_compose! {
    fn resources()(
        cpu_request in amount(), cpu_limit in amount(), memory_request in memory(), memory_limit in memory(),
    ) -> Value {
        json!({
            "cpu_request": cpu_request, "cpu_limit": cpu_limit, "memory_request": memory_request,
            "memory_limit": memory_limit,
        })
    }
}

prop_compose! {
    fn storage()(
        kind in prop::sample::select(StorageKind::ALL.to_vec()),
        size in prop::option::of(prop_oneof![3 => "[1-9][0-9]?[MG]i", 1 => text()]),
        path in prop::option::of(prop_oneof![3 => "/[a-z]{4,8}(/[a-z]{1,3})?", 1 => text()]),
        at_expiry in prop::sample::select(AtExpiry::ALL.to_vec()),
    ) -> Value {
        json!({ "kind": kind, "size": size, "path": path, "at_expiry": at_expiry })
    }
}

prop_compose! {
    fn source()(
        kind in prop::sample::select(MaterialKind::ALL.to_vec()),
        url in prop_oneof![6 => "https?://[a-z]{1,8}/[a-z]{1,8}", 1 => text()],
        reference in prop::option::of(prop_oneof![3 => "[a-z]{1,8}", 1 => text()]),
        sha256 in prop::option::of(prop_oneof![3 => "[0-9a-fA-F]{64}", 1 => text()]),
        folder in prop::option::of(prop_oneof![3 => "[a-z]{1,4}(/[a-z]{1,4})?/?", 1 => text()]),
        secret in prop::option::of(prop_oneof![3 => "[a-z]{1,8}", 1 => text()]),
        target in prop_oneof![6 => "[a-z]{1,8}", 1 => text()],
    ) -> Value {
        json!({
            "kind": kind, "url": url, "ref": reference, "sha256": sha256, "folder": folder, "secret": secret,
            "target": target,
        })
    }
}

prop_compose! {
    fn material()(
        directory in prop::option::of(prop_oneof![3 => "/[a-z]{4,8}", 1 => text()]),
        sources in prop::collection::vec(source().boxed(), 0..3),
        allowed_repositories in prop::collection::vec(prop_oneof![3 => "https://[a-z]{1,8}/", 1 => text()], 0..2),
    ) -> Value {
        json!({ "directory": directory, "sources": sources, "allowed_repositories": allowed_repositories })
    }
}

prop_compose! {
    fn parameter()(
        name in prop_oneof![6 => "[A-Z_]{3,8}", 1 => text()].boxed(),
        (label, help) in (prop_oneof![6 => "[a-z]{1,8}", 1 => text()], prop::option::of(text())).boxed(),
        kind in prop_oneof![
            4 => Just(ParameterKind::Text),
            1 => prop::sample::select(ParameterKind::ALL.to_vec()),
        ],
        default in prop::option::weighted(0.2, text()),
        required in prop::option::of(any::<bool>()),
        choices in prop_oneof![6 => Just(Vec::new()), 1 => prop::collection::vec(text(), 0..4)],
        (min, max) in (prop::option::weighted(0.1, -9..9_i64), prop::option::weighted(0.1, -9..9_i64)),
        integer in prop::bool::weighted(0.1),
        max_length in prop::option::weighted(0.3, 0..1200_i64),
    ) -> Value {
        json!({
            "name": name, "label": label, "help": help, "kind": kind, "default": default, "required": required,
            "choices": choices, "min": min, "max": max, "integer": integer, "max_length": max_length,
        })
    }
}

prop_compose! {
    fn any_template()(
        (name, description, image) in (text(), text(), text()).boxed(),
        app_type in prop::sample::select(AppType::ALL.to_vec()),
        port in prop_oneof![4 => (0..70_000_i64).prop_map(Some), 2 => Just(None), 1 => any::<i64>().prop_map(Some)].boxed(),
        command in prop_oneof![
            5 => prop::collection::vec("[a-z]{1,6}", 0..5),
            1 => prop::collection::vec(text(), 0..5),
        ].boxed(),
        args in prop::collection::vec(text(), 0..5).boxed(),
        env in prop::collection::btree_map(prop_oneof![6 => "[A-Z_]{1,8}", 1 => text()], text(), 0..4).boxed(),
        resources in prop_oneof![1 => Just(json!({})), 1 => resources()].boxed(),
        security_profile in prop::sample::select(SecurityProfile::ALL.to_vec()),
        pod_template in prop::option::of(prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..3)).boxed(),
        (storage, material) in
            (prop::option::of(storage().boxed()), prop_oneof![14 => Just(None), 1 => material().boxed().prop_map(Some)]).boxed(),
        parameters in prop_oneof![6 => Just(Vec::new()), 1 => prop::collection::vec(parameter().boxed(), 1..3)].boxed(),
        (lifetime_seconds, extension_seconds, max_lifetime_seconds) in (seconds(), seconds(), seconds()).boxed(),
        (active, unlisted) in (any::<bool>(), any::<bool>()),
        tags in prop::collection::vec(prop_oneof![3 => "[a-zA-Zä ]{1,10}", 1 => text()], 0..3).boxed(),
        icon in prop::option::of(prop::sample::select(Icon::ALL.to_vec())),
        slug in prop::option::of(prop_oneof![4 => "[a-z0-9]{2,10}(-[a-z0-9]{1,5})?", 1 => text()]).boxed(),
        wrong in prop::option::weighted(0.1, (prop::collection::vec(any::<Index>(), 1..5), any_json())).boxed(),
    ) -> Value {
        let mut template = json!({
            "name": name, "description": description, "app_type": app_type, "image": image, "port": port,
            "command": command, "args": args, "env": env, "resources": resources,
            "security_profile": security_profile, "pod_template": pod_template, "storage": storage,
            "material": material, "parameters": parameters, "lifetime_seconds": lifetime_seconds,
            "extension_seconds": extension_seconds, "max_lifetime_seconds": max_lifetime_seconds, "active": active,
            "tags": tags, "icon": icon, "unlisted": unlisted, "slug": slug,
        });
        if let Some((path, value)) = wrong {
            replace(&mut template, &path, value);
        }
        template
    }
}

/// Replaces a value. Each step of the path chooses a field or an item of the one before.
fn replace(json: &mut Value, path: &[Index], value: Value) {
    let mut children: Vec<&mut Value> = match json {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    match path.split_first() {
        Some((step, rest)) if !children.is_empty() => {
            replace(children.swap_remove(step.index(children.len())), rest, value);
        }
        _ => *json = value,
    }
}

fn assert_refused_or_round_trips(body: &Value) -> bool {
    match read(body, &json!({})) {
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(
                errors.iter().all(|error| error.pointer.starts_with('/') && !error.detail().is_empty()),
                "{errors:?}"
            );
            false
        }
        Ok(content) => {
            let settings = &content.settings;
            let stored = serde_json::to_string(settings).unwrap();
            assert_eq!(&serde_json::from_str::<TemplateSettings>(&stored).unwrap(), settings, "read as it was stored");
            assert!(settings.lifetime_seconds <= settings.max_lifetime_seconds && settings.port > 0);
            assert_eq!(TemplateContent::read(&content.to_json()).as_ref(), Ok(&content));
            assert_eq!(TemplateContent::from(&template(content.clone())), content);
            true
        }
    }
}

#[test]
fn generated_templates_include_valid_and_invalid_ones() {
    let mut runner = TestRunner::deterministic();
    let templates = (0..1000).map(|_| any_template().new_tree(&mut runner).unwrap().current());
    let accepted = templates.filter(assert_refused_or_round_trips).count();
    assert!((20..980).contains(&accepted), "{accepted}");
}

proptest! {
    #[test]
    fn any_template_is_refused_with_errors_or_round_trips(template in any_template()) {
        assert_refused_or_round_trips(&template);
    }

    #[test]
    fn parsing_quantity_from_any_text_never_panics(text in "\\PC{0,20}|[0-9.]{1,20}[mkMGTPEi]{0,2}") {
        if let Ok(quantity) = Quantity::parse(&text) {
            prop_assert_eq!(quantity.as_str(), text);
        }
    }
}

#[test]
fn service_settings_and_disable_auth_are_reserved_variables() {
    for (name, is_reserved) in
        [("DISABLE_AUTH", true), ("SERVICE_OWNER_EMAIL", true), ("PORT", false), ("MY_SERVICE_X", false)]
    {
        assert_eq!(is_reserved_variable(name), is_reserved, "{name}");
    }
}
