//! Tests of the environment variables of apps.

use launcher_domain::AppType;

use crate::support::template;

#[test]
fn environment_of_each_app_type_has_port_and_disables_login() {
    for app_type in AppType::ALL {
        let template = template(app_type, "image").env("A", "$(PORT)").env("PORT", "1").env("DISABLE_AUTH", "false");
        let environment = template.on(8888).environment();
        let expected = [("A", "$(PORT)"), ("DISABLE_AUTH", "true"), ("PORT", "8888")];
        assert!(
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected),
            "{environment:?}"
        );
    }
}
