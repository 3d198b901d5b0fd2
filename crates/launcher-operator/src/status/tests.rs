use launcher_domain::{FailureCode, StartStep};
use launcher_workshop::WorkshopSpec;

use super::*;
use crate::diagnose::DetailSource;

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().unwrap()
}

fn workshop(status: Option<WorkshopStatus>) -> Workshop {
    let spec: WorkshopSpec = serde_json::from_value(serde_json::json!({
        "owner": "alice@example.org", "image": "i", "appType": "custom", "port": 8888,
        "resources": { "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" },
        "securityProfile": "restricted", "lifetimeSeconds": 60,
    }))
    .unwrap();
    let mut workshop = Workshop::new("intro", spec);
    workshop.metadata.generation = Some(7);
    workshop.metadata.creation_timestamp = Some(Time(at("12:00:00")));
    workshop.status = status;
    workshop
}

fn applied() -> Applied {
    Applied { url: Some("https://intro.example.org/".to_owned()), exposure: Exposure::Ingress, created: None }
}

fn ready(condition: &WorkshopStatus) -> (&str, Timestamp) {
    let one = condition.conditions.iter().find(|one| one.type_ == READY).unwrap();
    (&one.status, one.last_transition_time.0)
}

fn waiting() -> Diagnosis {
    Diagnosis::Waiting { step: StartStep::PullingImage, until: at("13:00:00"), stuck_pod: None, silent_pod: None }
}

fn step(before: Option<WorkshopStatus>, diagnosis: &Diagnosis, now: &str) -> WorkshopStatus {
    of_applied(&workshop(before), &applied(), diagnosis, None, at(now))
}

#[test]
fn ready_at_is_set_once_and_url_only_while_running() {
    let starting = step(None, &waiting(), "12:00:01");
    assert_eq!((starting.phase, starting.ready_at, &starting.report.url), (Phase::Starting, None, &None));
    assert_eq!(starting.report.start_step, Some(StartStep::PullingImage));
    let running = step(Some(starting), &Diagnosis::Ready, "12:00:02");
    assert_eq!((running.phase, running.ready_at), (Phase::Running, Some(at("12:00:02"))));
    assert_eq!(running.report.url.as_deref(), Some("https://intro.example.org/"));
    assert_eq!(running.observed_generation, Some(7));
    let restarting = step(Some(running), &waiting(), "12:00:03");
    assert_eq!((restarting.phase, restarting.ready_at), (Phase::Starting, Some(at("12:00:02"))));
    let again = step(Some(restarting), &Diagnosis::Ready, "12:00:04");
    assert_eq!(again.ready_at, Some(at("12:00:02")));
    assert_eq!(ready(&again), ("True", at("12:00:04")));
}

#[test]
fn status_is_unchanged_if_diagnosis_is_unchanged() {
    let once = step(None, &Diagnosis::Ready, "12:00:01");
    assert_eq!(step(Some(once.clone()), &Diagnosis::Ready, "12:34:56"), once);
}

#[test]
fn unexposed_workshop_has_no_url_and_condition_exposed_is_false() {
    let hidden = Applied { url: None, exposure: Exposure::None, created: None };
    let status = of_applied(&workshop(None), &hidden, &Diagnosis::Ready, None, at("12:00:01"));
    assert_eq!((status.phase, status.report.url), (Phase::Running, None));
    let exposed = status.conditions.iter().find(|one| one.type_ == EXPOSED).unwrap();
    assert_eq!((exposed.status.as_str(), exposed.reason.as_str()), ("False", "NoGate"));
}

#[test]
fn status_of_failed_workshop_has_reason_log_and_ready_at() {
    let running = step(None, &Diagnosis::Ready, "12:00:01");
    let failure = Failure { reason: FailureReason::new(FailureCode::Crashed, None), details: DetailSource::None };
    let diagnosis = Diagnosis::Failed(failure);
    let status = of_applied(&workshop(Some(running)), &applied(), &diagnosis, Some("boom".to_owned()), at("12:00:02"));
    assert_eq!((status.phase, status.reason.as_deref()), (Phase::Failed, Some("crashed")));
    assert_eq!((status.report.log_tail.as_deref(), status.report.url), (Some("boom"), None));
    assert_eq!(status.ready_at, Some(at("12:00:01")));
}

#[test]
fn status_of_expired_workshop_keeps_ready_at_and_has_no_url() {
    let running = step(None, &Diagnosis::Ready, "12:00:01");
    let status = expired(&workshop(Some(running)), at("12:01:01"));
    assert_eq!((status.phase, status.report.url, status.ready_at), (Phase::Expired, None, Some(at("12:00:01"))));
}

/// The result of an apply of a workload that was created at this time.
fn made(time: &str) -> Applied {
    Applied { created: Some(at(time)), ..applied() }
}

#[test]
fn start_timeout_counts_from_first_status_or_from_workload_if_later() {
    // The Workshop was created at 12:00, but no operator ran until 12:30.
    assert_eq!(waiting_since(&workshop(None), &applied(), at("12:30:00")), at("12:30:00"));
    let starting = workshop(Some(step(None, &waiting(), "12:30:00")));
    assert_eq!(waiting_since(&starting, &made("12:30:00"), at("12:35:00")), at("12:30:00"));
    // An invalid spec delayed the workload: it was created at 12:34, or (second assertion) is created now.
    assert_eq!(waiting_since(&starting, &made("12:34:00"), at("12:35:00")), at("12:34:00"));
    assert_eq!(waiting_since(&starting, &applied(), at("12:35:00")), at("12:35:00"));
}

#[test]
fn start_timeout_counts_from_loss_of_readiness() {
    let running = step(None, &Diagnosis::Ready, "12:00:02");
    // The workshop was ready until now. Then it lost its pod, for example.
    assert_eq!(waiting_since(&workshop(Some(running.clone())), &made("12:00:00"), at("12:30:00")), at("12:30:00"));
    let restarting = step(Some(running), &waiting(), "12:30:00");
    assert_eq!(waiting_since(&workshop(Some(restarting)), &made("12:00:00"), at("12:35:00")), at("12:30:00"));
}

#[test]
fn start_begins_at_the_end_of_the_wait_for_a_quota() {
    let reason = FailureReason::new(FailureCode::QuotaExceeded, None);
    let refused = waiting_for_quota(&workshop(None), &reason, at("12:00:01"));
    assert_eq!(refused.report.start_step, Some(StartStep::WaitingForQuota));
    let again = waiting_for_quota(&workshop(Some(refused.clone())), &reason, at("12:30:00"));
    assert_eq!(again, refused);
    let starting = step(Some(again), &waiting(), "13:00:00");
    assert_eq!(starting.starting_since(), Some(at("13:00:00")));
    assert_eq!(step(Some(starting), &waiting(), "13:00:05").starting_since(), Some(at("13:00:00")));
}
