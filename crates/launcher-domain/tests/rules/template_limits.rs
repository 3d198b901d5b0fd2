//! Limits of a template's fields: the greatest valid value is accepted, and the next greater one is refused.

use std::collections::BTreeMap;

use launcher_domain::FieldError;
use serde_json::{Value, json};

use crate::template::with;

fn errors(changes: &Value) -> Vec<FieldError> {
    with(changes).map_or_else(|errors| errors, |_| Vec::new())
}

/// Asserts that validation reports errors at exactly these pointers: none if the changed template is valid.
fn assert_pointers(changes: &Value, expected: &[&str]) {
    let errors = errors(changes);
    let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    let shown: String = changes.to_string().chars().take(80).collect();
    assert_eq!(pointers, expected, "{shown}");
}

fn variables(count: usize) -> BTreeMap<String, String> {
    (0..count).map(|number| (format!("V{number}"), String::new())).collect()
}

#[test]
fn text_of_maximum_length_is_accepted_and_longer_is_refused() {
    for (field, most, letter) in [("name", 80, "ü"), ("description", 4000, "ü"), ("image", 255, "x")] {
        assert_pointers(&json!({field: letter.repeat(most)}), &[]);
        assert_pointers(&json!({field: letter.repeat(most + 1)}), &[&format!("/{field}")]);
    }
    assert_pointers(&json!({"name": "x", "image": "y"}), &[]);
}

#[test]
fn name_and_image_are_trimmed_before_their_length_is_checked() {
    let settings = with(&json!({"name": format!(" {}\t", "x".repeat(80)), "image": "  python:3 "})).unwrap();
    assert_eq!((settings.name.len(), settings.image.as_str()), (80, "python:3"));
}

#[test]
fn command_and_args_have_at_most_64_words_of_4096_bytes() {
    for field in ["command", "args"] {
        assert_pointers(&json!({field: vec!["x"; 64]}), &[]);
        assert_pointers(&json!({field: vec!["x"; 65]}), &[&format!("/{field}")]);
        assert_pointers(&json!({field: ["", "x".repeat(4096)]}), &[]);
        assert_pointers(
            &json!({field: ["ok", "x".repeat(4097), "nul\u{0}"]}),
            &[&format!("/{field}/1"), &format!("/{field}/2")],
        );
        // The limit of 4096 counts bytes: 2049 characters of two bytes each exceed it.
        assert_pointers(&json!({field: ["ü".repeat(2049)]}), &[&format!("/{field}/0")]);
    }
}

#[test]
fn env_has_at_most_64_variables() {
    assert_pointers(&json!({"env": variables(64)}), &[]);
    assert_pointers(&json!({"env": variables(65)}), &["/env"]);
}

#[test]
fn environment_variable_name_has_at_most_128_bytes() {
    let (longest, longer) = ("N".repeat(128), "N".repeat(129));
    assert_pointers(&json!({"env": {longest: ""}}), &[]);
    assert_pointers(&json!({"env": {longer.clone(): ""}}), &[&format!("/env/{longer}")]);
}

#[test]
fn environment_variable_name_must_be_an_identifier() {
    for name in ["_", "_X", "x1", "path", "SERVICE", "SERVICES_X", "DISABLE_AUTH_", "MY_SERVICE_X"] {
        assert_pointers(&json!({"env": {name: ""}}), &[]);
    }
    for name in ["", "9", "A-B", "A.B", "A B", "Ä", "A="] {
        assert_pointers(&json!({"env": {name: ""}}), &[&format!("/env/{name}")]);
    }
    for name in ["SERVICE_", "SERVICE_X", "DISABLE_AUTH"] {
        let errors = errors(&json!({"env": {name: ""}}));
        assert!(matches!(&errors[..], [error] if error.detail().contains("set by the service")), "{errors:?}");
    }
}

#[test]
fn environment_variable_value_has_at_most_32_kib_without_nul() {
    assert_pointers(&json!({"env": {"A": "x".repeat(32 * 1024)}}), &[]);
    assert_pointers(&json!({"env": {"A": "x".repeat(32 * 1024 + 1)}}), &["/env/A"]);
    assert_pointers(&json!({"env": {"A": "a\u{0}b"}}), &["/env/A"]);
    assert_pointers(&json!({"env": {"1A": "a\u{0}b"}}), &["/env/1A", "/env/1A"]);
}

#[test]
fn description_may_contain_any_character_but_nul() {
    assert_pointers(&json!({"description": "# Title\r\n\ttext \u{202e}\u{7f}"}), &[]);
    assert_pointers(&json!({"description": "a\u{0}"}), &["/description"]);
}

#[test]
fn template_name_may_join_characters_outside_of_ascii() {
    for name in ["می\u{200c}خواهم", "क\u{200d}ष", "👩\u{200d}💻 Rust", "❤\u{fe0f}\u{200d}🔥"] {
        assert_pointers(&json!({ "name": name }), &[]);
    }
    for name in ["Pen\u{200d}guins", "می\u{200c}", "\u{200d}💻", "می\u{200c}\u{200c}خواهم", "é\u{200c}e"] {
        assert_pointers(&json!({ "name": name }), &["/name"]);
    }
}

#[test]
fn template_name_with_invisible_character_is_refused() {
    for character in
        ['\u{200b}', '\u{200f}', '\u{2028}', '\u{202e}', '\u{2060}', '\u{2069}', '\u{feff}', '\t', '\u{7f}', '\u{9f}']
    {
        assert_pointers(&json!({"name": format!("a{character}b")}), &["/name"]);
    }
    for character in
        ['\u{200a}', '\u{2010}', '\u{2027}', '\u{202f}', '\u{205f}', '\u{206a}', '\u{fefe}', '\u{a0}', '"', '🐧']
    {
        assert_pointers(&json!({"name": format!("a{character}b")}), &[]);
    }
}

#[test]
fn image_reference_has_only_allowed_characters() {
    for image in ["x", "9", "registry.example.org:5000/a_b/c-d.e:1.2-x", "a@sha256:0f", "a+b"] {
        assert_pointers(&json!({"image": image}), &[]);
    }
    for image in ["-a", "/a", ":a", "@a", ".a", "_a", "a?b", "a\\b", "a#b", "a\nb", "ä", "a\u{0}"] {
        assert_pointers(&json!({"image": image}), &["/image"]);
    }
}

#[test]
fn port_is_1_to_65535_except_the_sidecar_ports() {
    for port in [1, 80, 8079, 8082, 65535] {
        assert_eq!(with(&json!({"port": port})).unwrap().port, u16::try_from(port).unwrap());
    }
    for port in [i64::MIN, -1, 0, 8080, 8081, 65536, i64::MAX] {
        assert_pointers(&json!({"port": port}), &["/port"]);
    }
}

#[test]
fn template_durations_are_60_seconds_to_30_days() {
    const LONGEST: i64 = 30 * 24 * 3600;
    let all = |seconds: i64| json!({"lifetime_seconds": seconds, "extension_seconds": seconds, "max_lifetime_seconds": seconds});
    let every = ["/lifetime_seconds", "/extension_seconds", "/max_lifetime_seconds"];
    for seconds in [60, 61, LONGEST] {
        assert_pointers(&all(seconds), &[]);
    }
    for seconds in [i64::MIN, -60, 0, 59, LONGEST + 1, i64::MAX] {
        assert_pointers(&all(seconds), &every);
    }
}

#[test]
fn lifetime_and_extension_may_equal_the_maximum_lifetime() {
    let durations = |lifetime: i64, extension: i64| json!({"lifetime_seconds": lifetime, "extension_seconds": extension, "max_lifetime_seconds": 600});
    assert_pointers(&durations(600, 600), &[]);
    assert_pointers(&durations(601, 600), &["/max_lifetime_seconds"]);
    assert_pointers(&durations(600, 601), &["/extension_seconds"]);
}

#[test]
fn default_maximum_lifetime_is_8_hours_or_the_lifetime_if_longer() {
    for (lifetime, maximum) in [(60, 28_800), (28_800, 28_800), (28_801, 28_801)] {
        assert_eq!(with(&json!({"lifetime_seconds": lifetime})).unwrap().max_lifetime_seconds, maximum);
    }
    assert_pointers(&json!({"extension_seconds": 28_800}), &[]);
    assert_pointers(&json!({"extension_seconds": 28_801}), &["/extension_seconds"]);
}

#[test]
fn default_lifetime_and_extension_are_cut_at_the_maximum_lifetime() {
    for (maximum, lifetime, extension) in [(3599, 3599, 3599), (3601, 3601, 3600), (7201, 7200, 3600)] {
        let settings = with(&json!({"max_lifetime_seconds": maximum})).unwrap();
        assert_eq!((settings.lifetime_seconds, settings.extension_seconds), (lifetime, extension), "{maximum}");
    }
}

#[test]
fn resource_request_may_equal_but_not_exceed_its_limit() {
    for (request, limit, most, more) in
        [("cpu_request", "cpu_limit", "500m", "501m"), ("memory_request", "memory_limit", "1Gi", "1025Mi")]
    {
        let limit_value = if limit == "cpu_limit" { "0.5" } else { "1024Mi" };
        assert_pointers(&json!({"resources": {request: most, limit: limit_value}}), &[]);
        assert_pointers(
            &json!({"resources": {request: more, limit: limit_value}}),
            &[&format!("/resources/{request}")],
        );
    }
    // These requests equal the default limits of 2 CPUs and 2 GiB, so they are accepted.
    assert_pointers(&json!({"resources": {"cpu_request": "2", "memory_request": "2Gi"}}), &[]);
    assert_pointers(
        &json!({"resources": {"cpu_request": "2001m", "memory_request": "2049Mi"}}),
        &["/resources/cpu_request", "/resources/memory_request"],
    );
}

#[test]
fn memory_is_at_least_a_mebibyte() {
    // As in Compose files, where it means 512 MiB. In Kubernetes, it means half a byte.
    assert_pointers(
        &json!({"resources": {"memory_request": "512m", "memory_limit": "512m"}}),
        &["/resources/memory_request", "/resources/memory_limit"],
    );
    assert_pointers(&json!({"resources": {"memory_request": "1048575"}}), &["/resources/memory_request"]);
    assert_pointers(&json!({"resources": {"memory_request": "1Mi", "memory_limit": "1048576"}}), &[]);
    assert_pointers(
        &json!({"resources": {"memory_limit": "512m", "cpu_request": "3"}}),
        &["/resources/memory_limit", "/resources/cpu_request"],
    );
    let errors = with(&json!({"resources": {"memory_request": "512m"}})).unwrap_err();
    assert!(errors[0].detail().starts_with("\"512m\" is less than 1Mi: for memory, write for example 512Mi or 2Gi"));
}

#[test]
fn each_invalid_quantity_is_reported_at_its_field() {
    let invalid = json!({"cpu_request": "a", "cpu_limit": "b", "memory_request": "c", "memory_limit": "0"});
    assert_pointers(
        &json!({"resources": invalid}),
        &["/resources/cpu_request", "/resources/cpu_limit", "/resources/memory_request", "/resources/memory_limit"],
    );
}

#[test]
fn omitted_resources_get_defaults() {
    let resources = with(&json!({})).unwrap().resources;
    let texts = [resources.cpu_request, resources.cpu_limit, resources.memory_request, resources.memory_limit];
    assert_eq!(texts.map(String::from), ["100m", "2", "256Mi", "2Gi"]);
}

#[test]
fn template_error_states_the_broken_rule() {
    let too_many: Vec<&str> = vec!["x"; 65];
    for (changes, detail) in [
        (json!({"name": ""}), "1 to 80 characters on one line, without invisible characters"),
        (json!({"description": "\u{0}"}), "at most 4,000 characters, without NUL"),
        (json!({"image": ""}), "an image reference of 1 to 255 characters, as in quay.io/jupyter/base-notebook:latest"),
        (json!({"port": null}), "required for app_type custom: the port that the app listens on"),
        (json!({"port": 8080}), "8080 and 8081 are the sidecar's; let the app listen on another port"),
        (json!({"port": 0}), "1 to 65535"),
        (json!({"args": too_many}), "at most 64 words"),
        (json!({"args": ["\u{0}"]}), "at most 4,096 bytes, without NUL"),
        (json!({"env": variables(65)}), "at most 64 variables"),
        (json!({"env": {"1": ""}}), "a variable's name has letters, digits and _, and does not start with a digit"),
        (json!({"env": {"A": "\u{0}"}}), "a variable's value has at most 32 KiB, without NUL"),
        (json!({"lifetime_seconds": 1}), "60 to 2592000 seconds (one minute to 30 days)"),
        (json!({"lifetime_seconds": 61, "max_lifetime_seconds": 60}), "at least the lifetime (lifetime_seconds)"),
        (
            json!({"extension_seconds": 61, "max_lifetime_seconds": 60}),
            "at most the maximum lifetime (max_lifetime_seconds)",
        ),
        (json!({"resources": {"cpu_request": "3"}}), "at most the maximum CPU (cpu_limit)"),
        (json!({"resources": {"memory_request": "3Gi"}}), "at most the maximum memory (memory_limit)"),
        (
            json!({"resources": {"memory_limit": "x\"y"}}),
            "\"x\\\"y\" is not a Kubernetes quantity above zero: write for example 500m or 2 for CPU, 512Mi or 2Gi for \
             memory",
        ),
    ] {
        let errors = errors(&changes);
        assert!(matches!(&errors[..], [error] if error.detail() == detail), "{detail}: {errors:?}");
    }
}
