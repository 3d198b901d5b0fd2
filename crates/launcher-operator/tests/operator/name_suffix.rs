//! Tests of the suffix in the workshops' hosts, with which launcher and workshops share one domain.

use launcher_operator::OperatorSettings;
use launcher_operator::build::{Manifests, build};
use launcher_operator::validate::validate;
use serde_json::{Value, json};

use crate::cluster::{Call, statuses, with_routes};
use crate::support::{at, metadata, running, settings, workshop};

fn with_suffix(suffix: &str) -> OperatorSettings {
    OperatorSettings { workshop_name_suffix: suffix.to_owned(), ..settings() }
}

fn built(name: &str, suffix: &str) -> Manifests {
    let workshop = workshop(|workshop| workshop.metadata.name = Some(name.to_owned()));
    build(&validate(&workshop).unwrap(), &with_suffix(suffix))
}

#[test]
fn host_and_url_have_the_suffix_and_objects_do_not() {
    for (name, suffix, label) in
        [("intro-abcdefghij", "-ws", "intro-abcdefghij-ws"), ("x-ws", "-ws", "x-ws-ws"), ("login", "-a-b", "login-a-b")]
    {
        let built = built(name, suffix);
        assert!(metadata(&built).iter().all(|metadata| metadata.name.as_deref() == Some(name)));
        assert_eq!(built.url, Some(format!("https://{label}.workshops.example.org/")));
        let host = format!("{label}.workshops.example.org");
        let spec = &built.others["Ingress"]["spec"];
        assert_eq!((&spec["rules"][0]["host"], &spec["tls"][0]["hosts"][0]), (&json!(host), &json!(host)));
    }
}

#[test]
fn empty_suffix_changes_nothing() {
    assert_eq!(built("intro-abcdefghij", ""), build(&validate(&workshop(|_| {})).unwrap(), &settings()));
}

#[test]
fn names_of_the_launcher_fit_with_the_longest_suffix() {
    assert_eq!(with_suffix("").max_name_length(), 63);
    assert_eq!(with_suffix(&format!("-{}", "a".repeat(31))).max_name_length(), 31);
}

/// Runs the operator for a new Workshop, whose name has 16 characters. Returns the requests of the operator.
async fn requests(suffix_length: usize) -> Vec<Call> {
    let mut workshop = running();
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["status"] = Value::Null;
    let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    cluster.with_settings(with_suffix(&"-".repeat(suffix_length))).run_operator(at("12:30:00")).await
}

#[tokio::test(start_paused = true)]
async fn name_that_makes_an_invalid_host_fails_the_workshop() {
    let calls = requests(48).await;
    let status = statuses(&calls).next().unwrap();
    assert_eq!((&status["phase"], &status["reason"]), (&"Failed".into(), &"invalid-spec".into()));
    assert!(status["message"].as_str().unwrap().contains("metadata.name has more than 15 characters."), "{status}");
    assert!(!calls.iter().any(|(what, _)| what.ends_with(" pods")), "{calls:?}");
    let accepted = requests(47).await;
    assert!(statuses(&accepted).all(|status| status["phase"] != "Failed"), "{accepted:?}");
    assert!(accepted.iter().any(|(what, _)| what.ends_with(" pods")), "{accepted:?}");
}
