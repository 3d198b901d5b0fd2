//! The secret variables of the app.

use launcher_domain::{FailureCode, SecretValues};

use super::super::BuildSettings;
use super::{app, settings, sidecar, workshop};

#[test]
fn only_the_app_gets_its_secrets() {
    let values = [("TOKEN", "hunter2-unique"), ("OTHER", "x")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let secrets: SecretValues = values.into_iter().collect();
    let settings = BuildSettings { secrets: &secrets, ..settings() };
    let mut workshop = workshop();
    workshop.spec.secret_env = vec!["TOKEN".to_owned()];
    let env = app(&workshop, &settings).unwrap().env.unwrap();
    assert!(env.contains(&"TOKEN=hunter2-unique".to_owned()), "{env:?}");
    assert!(!env.iter().any(|variable| variable.starts_with("OTHER=")), "{env:?}");
    let env = sidecar(&workshop, &settings).unwrap().env.unwrap_or_default();
    assert!(!env.iter().any(|variable| variable.contains("hunter2")), "{env:?}");
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn reserved_name_of_a_secret_is_refused() {
    for name in ["SERVICE_OWNER", "DISABLE_AUTH", "A-B", ""] {
        let mut workshop = workshop();
        workshop.spec.secret_env = vec![name.to_owned()];
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec, "{name}");
    }
}
