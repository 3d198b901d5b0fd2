//! Tests of the environment variables of apps.

use std::collections::BTreeMap;

use launcher_domain::AppType;
use serde_json::json;

use crate::support::template;

#[test]
fn environment_of_each_app_type_has_the_variables_of_the_service() {
    let template_values = [("A", "$(PORT) $(HOST) $(ORIGIN) $(A)"), ("PORT", "1"), ("DISABLE_AUTH", "false")];
    let expected = [
        ("A", "8888 intro.example.org https://intro.example.org $(A)"),
        ("DISABLE_AUTH", "true"),
        ("PORT", "8888"),
        ("WORKSHOP_HOST", "intro.example.org"),
        ("WORKSHOP_ORIGIN", "https://intro.example.org"),
        ("WORKSHOP_URL", "https://intro.example.org/"),
    ];
    for app_type in AppType::ALL {
        let template = template(app_type, "image").with("env", json!(BTreeMap::from(template_values)));
        let environment = template.on(8888).environment();
        assert!(
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected),
            "{environment:?}"
        );
    }
}

#[test]
fn address_of_the_workshop_has_its_port_and_start_path() {
    let template = template(AppType::Custom, "image").with("startPath", "/vnc.html?autoconnect=1");
    let environment = template.at(5000, "http://intro.localhost:8000/").environment();
    assert_eq!(environment["WORKSHOP_HOST"], "intro.localhost:8000");
    assert_eq!(environment["WORKSHOP_ORIGIN"], "http://intro.localhost:8000");
    assert_eq!(environment["WORKSHOP_URL"], "http://intro.localhost:8000/vnc.html?autoconnect=1");
}
