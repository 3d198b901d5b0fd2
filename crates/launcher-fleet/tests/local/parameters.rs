//! Tests of secret variables: the app gets them, and they are stored only in the private record of the Workshop.

use std::fs;

use launcher_domain::SecretValues;
use launcher_fleet::{Fleet, FleetError};
use launcher_workshop::{Phase, Workshop};

use crate::support::{Home, NONE, crash, eventually, script, wait_for, wait_until_gone};

const SECRET: &str = "hunter2-unique";

/// A Workshop whose app writes its variables to a file, and its process to another one.
fn with_secret(name: &str) -> Workshop {
    let text = "echo \"$DATASET,$TOKEN,${OTHER-none}\" >> values; echo $$ > leader; \
                exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let mut workshop = script(name, text);
    workshop.spec.env.insert("DATASET".to_owned(), "iris".to_owned());
    workshop.spec.secret_env = vec!["TOKEN".to_owned()];
    workshop
}

fn secrets() -> SecretValues {
    [("TOKEN", SECRET), ("OTHER", "not in the spec")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect()
}

fn values(home: &Home) -> String {
    fs::read_to_string(home.working("lab-a").join("values")).unwrap_or_default()
}

#[tokio::test]
async fn app_gets_its_secrets_and_no_reader_of_the_workshop_does() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let fleet = home.open();
    let stored = fleet.apply_with_secrets(&with_secret("lab-a"), &secrets()).await.unwrap();
    let running = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(values(&home), format!("iris,{SECRET},none\n"));
    for workshop in [stored, running] {
        assert!(!serde_json::to_string(&workshop).unwrap().contains(SECRET));
        assert!(!format!("{workshop:?}").contains(SECRET));
    }
    assert!(!format!("{fleet:?}").contains(SECRET));
    let record = home.record("lab-a").join("state.json");
    assert!(fs::read_to_string(&record).unwrap().contains(SECRET));
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);

    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    assert!(!record.exists());
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn app_gets_its_secrets_again_after_a_crash_and_a_restart_of_the_fleet() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply_with_secrets(&with_secret("lab-a"), &secrets()).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    // A later change of the spec, such as an extension, comes without the values.
    fleet.apply(&with_secret("lab-a")).await.unwrap();
    crash(&home, &fleet, "lab-a", home.noted("lab-a", "leader")).await;
    eventually("the app starts again", || values(&home).lines().count() == 2).await;
    wait_for(&fleet, "lab-a", Phase::Running).await;
    fleet.stop().await;
    drop(fleet);

    let fleet = home.open();
    eventually("the app starts again", || values(&home).lines().count() == 3).await;
    assert_eq!(values(&home), format!("iris,{SECRET},none\n").repeat(3));
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_without_a_value_of_its_secret_is_refused() {
    let home = Home::new();
    let fleet = home.open();
    let Err(FleetError::Refused(message)) = fleet.apply(&with_secret("lab-a")).await else { panic!("accepted") };
    assert!(message.contains("TOKEN"), "{message}");
    assert_eq!(fleet.get("lab-a").await.unwrap(), None);
    fleet.stop().await;
}
