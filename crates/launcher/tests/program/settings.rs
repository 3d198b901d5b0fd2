use std::net::TcpListener;

use crate::serving::{Serving, free};
use crate::{launcher, text};

/// Invalid values of all settings that can be invalid: setting, value, and required texts of the one-line error.
const WRONG: &[(&str, &str, &[&str])] = &[
    ("SERVICE_ADMIN_EMAILS", "admin@example.org,oops", &["entry 2", "oops", "exactly one @"]),
    ("SERVICE_REQUIRE_AUTHENTICATION", "flase", &["--require-authentication", "write true or false"]),
    ("SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS", "yes", &["write true or false"]),
    ("SERVICE_POD_TEMPLATE_ALLOW", "configMap/*,hostPath/*", &["hostPath/*", "is not kind/name"]),
    ("SERVICE_SIZES", "small", &["write a JSON list of sizes"]),
    ("SERVICE_SIZES", r#"[{"name": "a", "resources": {"cpu_limit": "x"}}]"#, &["entry 1: /resources/cpu_limit"]),
    ("SERVICE_DEV_IDENTITY", "dev", &["--dev-identity", "exactly one @"]),
    ("SERVICE_TRUSTED_AUTH_HEADER", "X_Auth", &["X_Auth", "is not a header name"]),
    ("SERVICE_PUBLIC_URL", "workshops.example.org", &["write an origin without a path"]),
    ("SERVICE_PUBLIC_URL", "https://workshops.example.org/launcher", &["write an origin without a path"]),
    ("SERVICE_BASE_PATH", "api", &["write a path that begins with /api"]),
    ("SERVICE_BASE_PATH", "/admin", &["write a path that begins with /api"]),
    ("SERVICE_BASE_PATH", "/api/../x", &["write a path that begins with /api"]),
    ("SERVICE_LOGIN_URL", "javascript:alert(1)", &["write a path"]),
    ("SERVICE_LOGOUT_URL", "//evil.example", &["write a path"]),
    ("SERVICE_CLASS_NAMESPACES", "class-a,Class_B", &["Class_B", "write names of namespaces"]),
    ("SERVICE_MATERIAL_CHECK_EXCEPT", "203.0.113.0/24,2001:db8::/32", &["2001:db8::/32", "as in 192.0.2.0/24"]),
    ("SERVICE_CLASS_CREATORS", "ada@example.org,@", &["entry 2", "after the @"]),
    ("SERVICE_HELP_URL", "javascript:alert(1)", &["write a URL"]),
    ("SERVICE_HELP_URL", "mailto:help", &["write a URL"]),
    (
        "SERVICE_BRAND_NAME",
        "A name that is too long for the header of a phone",
        &["write a name of 1 to 32 characters"],
    ),
    ("SERVICE_BRAND_COLOR", "teal", &["write a colour as #rrggbb"]),
    ("SERVICE_BRAND_COLOR", "#ffcc00", &["contrast of 1.5 : 1", "needs 4.5 : 1", "write a darker colour, as in #"]),
    ("SERVICE_BRAND_LOGO", "/nowhere/logo.svg", &["/nowhere/logo.svg", "cannot be read"]),
    ("SERVICE_BRAND_LOGO", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &["is no SVG and no PNG"]),
    ("SERVICE_WORKSHOP_DOMAIN", "http://x/", &["write a domain"]),
    ("SERVICE_WORKSHOP_DOMAIN", "*.example.org", &["write a domain"]),
    ("SERVICE_WORKSHOP_DOMAIN", "localhost:8000", &["write a domain"]),
    ("SERVICE_WORKSHOP_DOMAIN", ".localhost", &["write a domain"]),
    ("SERVICE_LISTEN_ADDR", "8000", &["--listen-addr", "invalid socket address"]),
    ("SERVICE_MAX_INSTANCES_PER_USER", "many", &["--max-instances-per-user", "invalid digit"]),
    ("SERVICE_LAUNCH_RATE", "0", &["--launch-rate", "0 is not in 1.."]),
    ("SERVICE_LAUNCH_BURST", "-1", &["--launch-burst"]),
    ("SERVICE_MAX_CONCURRENT_STARTS", "0", &["--max-concurrent-starts", "0 is not in 1.."]),
    ("SERVICE_MAX_CONNECTIONS", "10", &["--max-connections", "10 is not in 64..=65536"]),
    ("SERVICE_START_TIMEOUT", "0", &["--start-timeout"]),
    ("SERVICE_FLEET", "docker", &["--fleet", "possible values", "local"]),
    ("SERVICE_DATABASE_URL", "mysql://localhost/launcher", &["the database cannot be used", "sqlite"]),
    ("SERVICE_DATABASE_URL", "sqlite:///dev/null/launcher.db", &["the database cannot be used", "/dev/null"]),
    (
        "SERVICE_SEED_TEMPLATES",
        "/nowhere/seeds.json",
        &["SERVICE_SEED_TEMPLATES", "/nowhere/seeds.json", "cannot be read"],
    ),
    (
        "SERVICE_PROXY_SECRET_FILE",
        "/nowhere/proxy-secret",
        &["SERVICE_PROXY_SECRET_FILE", "/nowhere/proxy-secret", "cannot be read", "openssl rand -hex 32"],
    ),
    ("SERVICE_PROXY_SECRET_FILE", "/dev/null", &["cannot be used", "it is empty", "openssl rand -hex 32"]),
    ("SERVICE_PROXY_SECRET_FILE", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &["cannot be used", "line 1"]),
    ("SERVICE_LOG", "a=b=c", &["SERVICE_LOG"]),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", &["--otlp-endpoint", "write it as in http://collector:4318"]),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:swordfish@collector:4318", &["OTEL_EXPORTER_OTLP_HEADERS"]),
];

#[test]
fn invalid_setting_stops_start_with_one_line_error() {
    for (name, value, words) in WRONG {
        let output = launcher(&["serve"], &[(name, value)]);
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}={value}: {complaint}");
        assert_eq!(complaint.trim_end().lines().count(), 1, "{name}={value}: {complaint}");
        assert!(complaint.starts_with("launcher: "), "{name}={value}: {complaint}");
        let named = complaint.contains(name) || *name == "SERVICE_DATABASE_URL";
        assert!(named, "{name}={value}: the setting is not named in {complaint}");
        for word in *words {
            assert!(complaint.contains(word), "{name}={value}: {word:?} is not in {complaint}");
        }
        assert!(!complaint.contains("swordfish"), "{name}={value}: a password stays where it is: {complaint}");
    }
}

#[test]
fn development_bypass_beyond_loopback_requires_explicit_setting() {
    let off = [("SERVICE_REQUIRE_AUTHENTICATION", "false"), ("SERVICE_DEV_IDENTITY", "dev@example.org")];
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let output = launcher(&["serve"], &[off[0], off[1], ("SERVICE_LISTEN_ADDR", address)]);
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(address) && complaint.trim_end().lines().count() == 1, "{complaint}");
        assert!(complaint.contains("SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS=true"), "{complaint}");
    }
    let data = tempfile::tempdir().unwrap();
    let everywhere = format!("0.0.0.0:{}", free().port());
    let allowed =
        [("SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS", "true"), ("SERVICE_LISTEN_ADDR", everywhere.as_str())];
    let serving = Serving::start_with(data.path(), &[&off[..], &allowed].concat());
    assert!(serving.ask("/api/v1/me", "").contains("dev@example.org"));
    assert_eq!(serving.stop().0, Some(0));
}

#[test]
fn occupied_port_is_named_in_start_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let output = launcher(&["serve"], &[("SERVICE_LISTEN_ADDR", &addr)]);
    let complaint = text(&output.stderr);
    assert!(complaint.contains(&addr) && complaint.contains("choose another address"), "{complaint}");
}

#[test]
fn start_error_for_invalid_seed_template_names_entry_and_reason() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("seeds.json");
    for (seeds, words) in [
        ("{}", "is not a JSON array of templates"),
        (r#"[{"name": "x"}]"#, "entry 1: template_id is missing"),
        (
            r#"[{"template_id": "01900000-0000-7000-8000-000000000001", "name": "", "app_type": "notebook", "image": "x"}]"#,
            "entry 1: /name: 1 to 80 characters",
        ),
        // The second seed has the slug of the first. It is stored without a slug, so the start fails at the third.
        (
            r#"[{"template_id": "01900000-0000-7000-8000-000000000001", "name": "A", "app_type": "notebook", "image": "x",
                 "slug": "same"},
                {"template_id": "01900000-0000-7000-8000-000000000002", "name": "B", "app_type": "notebook", "image": "x",
                 "slug": "same"},
                {"template_id": "01900000-0000-7000-8000-000000000003", "name": "", "app_type": "notebook", "image": "x"}]"#,
            "entry 3: /name: 1 to 80 characters",
        ),
    ] {
        std::fs::write(&file, seeds).unwrap();
        let output = launcher(&["serve"], &[("SERVICE_SEED_TEMPLATES", file.to_str().unwrap())]);
        let complaint = text(&output.stderr);
        assert!(output.status.code() == Some(1) && complaint.contains(words), "{seeds}: {complaint}");
    }
}
