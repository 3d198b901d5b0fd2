//! Crashes of apps: with kept files, the app starts again in place, until it crashes too often.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses, with_children};
use crate::support::{at, pod_object, running};

const CRASHES: &str = "workshoplauncher.dev/crashes";

/// A Workshop with kept files, which was ready at 12:00.
fn workshop() -> Value {
    let mut workshop = running();
    workshop["spec"]["storage"] = json!({ "volume": "work-abcdefghij", "size": "2Gi", "path": "/home/jovyan" });
    workshop
}

/// The Workshop before it was ready.
fn new_workshop() -> Value {
    let mut workshop = workshop();
    workshop["status"] = json!({ "phase": "Starting" });
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop
}

fn time(text: &str) -> String {
    format!("2026-01-01T{text}Z")
}

/// The termination of an app that started at one time, and crashed at the other.
fn ended(reason: &str, started: &str, crashed: &str) -> Value {
    let exit_code = if reason == "OOMKilled" { 137 } else { 3 };
    json!({ "terminated": {
        "exitCode": exit_code, "reason": reason, "startedAt": time(started), "finishedAt": time(crashed),
    } })
}

/// A pod whose app has this restart count and these states, and whose annotation has this record.
fn pod(restarts: u32, state: &Value, last: &Value, record: Option<&str>) -> Value {
    let ready = if state["running"].is_null() { "False" } else { "True" };
    let mut pod = pod_object(&json!({
        "phase": "Running",
        "conditions": [{ "type": "Ready", "status": ready }],
        "containerStatuses": [{
            "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": restarts, "state": state,
            "lastState": last,
        }],
    }));
    if let Some(record) = record {
        pod["metadata"]["annotations"] = json!({ CRASHES: record });
    }
    pod
}

fn running_again() -> Value {
    json!({ "running": {} })
}

fn backoff() -> Value {
    json!({ "waiting": { "reason": "CrashLoopBackOff" } })
}

fn cluster(workshop: &Value, pod: &Value) -> Cluster {
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", pod)
}

fn last(calls: &[Call]) -> &Value {
    statuses(calls).last().unwrap()
}

/// The phases that the operator wrote, each with the reason of the failure or the step of the start.
fn phases(calls: &[Call]) -> Vec<String> {
    let words = |status: &Value| {
        let words = ["phase", "reason", "startStep"].map(|field| status[field].as_str().unwrap_or_default().to_owned());
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    statuses(calls).map(words).collect()
}

/// The values that the operator wrote to the annotation, without repetitions.
fn records(calls: &[Call]) -> Vec<String> {
    let patches = calls.iter().filter(|(what, _)| what == "PATCH pods");
    let values = patches.filter_map(|(_, body)| {
        let metadata = &body["metadata"];
        let value = metadata["annotations"][CRASHES].as_str()?;
        assert_eq!(metadata["uid"], "pod", "the next pod has the same name");
        Some(value.to_owned())
    });
    let mut values: Vec<String> = values.collect();
    values.dedup();
    values
}

fn record(number: u32, times: &[&str]) -> String {
    let times: Vec<String> = times.iter().map(|at| time(at)).collect();
    json!({ "number": number, "times": times }).to_string()
}

fn crash(at: &str, reason: &str) -> Value {
    json!({ "at": time(at), "reason": reason, "filesLost": false })
}

#[tokio::test(start_paused = true)]
async fn app_with_kept_files_starts_again_after_its_first_crash() {
    for (reason, code) in [("Error", "crashed"), ("Completed", "crashed"), ("OOMKilled", "out-of-memory")] {
        let ended = ended(reason, "12:00:00", "12:20:00");
        let mut again = pod(1, &running_again(), &ended, Some(&record(1, &["12:20:00"])));
        again["metadata"]["resourceVersion"] = "2".into();
        let cluster = cluster(&workshop(), &pod(0, &ended, &Value::Null, None));
        let calls = cluster.changing("pods", Duration::from_secs(3), &again).run_operator(at("12:20:01")).await;
        assert_eq!(phases(&calls), ["Starting restarting-app", "Running"]);
        for status in statuses(&calls) {
            assert_eq!(
                (&status["lastCrash"], &status["readyAt"]),
                (&crash("12:20:00", code), &json!(time("12:00:00")))
            );
        }
        assert_eq!(last(&calls)["url"], "https://intro-abcdefghij.workshops.example.org/");
        assert_eq!(records(&calls), [record(1, &["12:20:00"])]);
    }
}

#[tokio::test(start_paused = true)]
async fn crash_counts_once_during_the_backoff_and_after_it() {
    let first = Some(record(1, &["12:18:00"]));
    let ended = ended("Error", "12:18:01", "12:20:00");
    for (restarts, state, last_state) in
        [(1, &ended, &Value::Null), (1, &backoff(), &ended), (2, &running_again(), &ended)]
    {
        let expected = record(2, &["12:18:00", "12:20:00"]);
        for (before, records_expected) in [(first.clone(), vec![expected.clone()]), (Some(expected.clone()), vec![])] {
            let pod = pod(restarts, state, last_state, before.as_deref());
            let calls = cluster(&workshop(), &pod).run_operator(at("12:20:01")).await;
            assert_eq!(records(&calls), records_expected);
            assert_eq!(last(&calls)["lastCrash"], crash("12:20:00", "crashed"));
            assert!(statuses(&calls).all(|status| status["phase"] != "Failed"), "{:?}", phases(&calls));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn third_crash_within_ten_minutes_fails_with_the_log_of_the_last_run() {
    let before = record(2, &["12:10:01", "12:15:00"]);
    let exit = "The workshop's program stopped unexpectedly. The app terminated repeatedly with exit code 3.";
    for (reason, code, message) in
        [("Error", "crashed", exit), ("OOMKilled", "out-of-memory", "The workshop exceeded its memory limit.")]
    {
        let ended = ended(reason, "12:15:10", "12:20:00");
        for (restarts, state, last_state, log) in [
            (2, &ended, &Value::Null, "current\n"),
            (2, &backoff(), &ended, "previous\n"),
            (3, &running_again(), &ended, "previous\n"),
        ] {
            let mut workshop = workshop();
            workshop["status"]["lastCrash"] = crash("12:15:00", "crashed");
            let cluster = cluster(&workshop, &pod(restarts, state, last_state, Some(&before)));
            let calls =
                cluster.with_log(true, "previous\n").with_log(false, "current\n").run_operator(at("12:20:01")).await;
            let failed = last(&calls);
            let expected = [json!("Failed"), json!(code), json!(message), json!(log)];
            assert_eq!(["phase", "reason", "message", "logTail"].map(|field| failed[field].clone()), expected);
            assert_eq!(
                failed["lastCrash"],
                crash("12:15:00", "crashed"),
                "the app does not start again after the third"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn crashes_more_than_ten_minutes_apart_do_not_fail() {
    let before = record(3, &["12:00:30", "12:10:00", "12:15:00"]);
    let ended = ended("Error", "12:15:10", "12:20:00");
    let calls = cluster(&workshop(), &pod(3, &backoff(), &ended, Some(&before))).run_operator(at("12:20:01")).await;
    assert!(phases(&calls).iter().all(|phase| phase == "Starting restarting-app"), "{:?}", phases(&calls));
    assert_eq!(records(&calls), [record(4, &["12:15:00", "12:20:00"])]);
}

#[tokio::test(start_paused = true)]
async fn crashes_count_across_a_restart_of_the_operator() {
    let mut annotation: Option<String> = None;
    for (number, started, crashed, failed) in
        [(1, "12:00:00", "12:20:00", false), (2, "12:20:01", "12:21:00", false), (3, "12:21:10", "12:22:00", true)]
    {
        let ended = ended("Error", started, crashed);
        let pod = pod(number - 1, &ended, &Value::Null, annotation.as_deref());
        let calls = cluster(&workshop(), &pod).run_operator(at(crashed)).await;
        assert_eq!(last(&calls)["phase"] == "Failed", failed, "crash {number}");
        annotation = records(&calls).pop().or(annotation);
    }
}

#[tokio::test(start_paused = true)]
async fn crash_between_two_reconciles_counts_from_the_start_of_the_next_run() {
    let ended = ended("Error", "12:19:10", "12:20:00");
    let run = async |number: u32, record: Option<String>| {
        let pod = pod(number, &running_again(), &ended, record.as_deref());
        cluster(&workshop(), &pod).run_operator(at("12:20:01")).await
    };
    let calls = run(2, None).await;
    assert_eq!(
        (records(&calls), &last(&calls)["phase"]),
        (vec![record(2, &["12:19:10", "12:20:00"])], &json!("Running"))
    );
    let calls = run(3, Some(record(1, &["12:18:00"]))).await;
    assert_eq!(last(&calls)["phase"], "Failed");
}

#[tokio::test(start_paused = true)]
async fn app_that_was_never_ready_fails_as_without_kept_files() {
    let mut plain = running();
    plain["status"] = json!({ "phase": "Starting" });
    for (reason, state, code) in [("Error", backoff(), "crashed"), ("OOMKilled", running_again(), "out-of-memory")] {
        let mut found = Vec::new();
        for workshop in [new_workshop(), plain.clone()] {
            let pod = pod(1, &state, &ended(reason, "12:00:00", "12:00:02"), None);
            let calls = cluster(&workshop, &pod).with_log(true, "log\n").run_operator(at("12:00:03")).await;
            assert_eq!(phases(&calls)[0], format!("Failed {code}"));
            assert_eq!(records(&calls), Vec::<String>::new());
            found.push(statuses(&calls).next().unwrap().clone());
        }
        assert_eq!(found[0], found[1]);
    }
}

#[tokio::test(start_paused = true)]
async fn crash_before_the_workshop_was_ready_does_not_count() {
    let early = ended("Error", "11:59:58", "12:00:01");
    let calls = cluster(&new_workshop(), &pod(1, &running_again(), &early, None)).run_operator(at("12:00:02")).await;
    let none = json!({ "number": 1, "times": [] }).to_string();
    assert_eq!((records(&calls), &last(&calls)["lastCrash"]), (vec![none.clone()], &Value::Null));
    let order: Vec<_> = calls.iter().map(|(what, _)| what.as_str()).filter(|what| what.starts_with("PATCH")).collect();
    let [noted, told] = ["PATCH pods", "PATCH workshops/status"].map(|call| order.iter().position(|one| *one == call));
    assert!(noted.unwrap() < told.unwrap(), "{order:?}");
    let noted = pod(1, &running_again(), &early, Some(&none));
    let calls = cluster(&workshop(), &noted).run_operator(at("12:20:00")).await;
    assert_eq!((records(&calls), &last(&calls)["lastCrash"]), (vec![], &Value::Null));
    // The next crash is the first one that counts.
    let next = pod(2, &running_again(), &ended("Error", "12:00:02", "12:00:05"), Some(&none));
    assert_eq!(records(&cluster(&workshop(), &next).run_operator(at("12:20:00")).await), [record(2, &["12:00:05"])]);
}

#[tokio::test(start_paused = true)]
async fn crash_right_after_readiness_counts_although_the_clock_of_the_node_is_behind() {
    let mut workshop = workshop();
    workshop["status"]["readyAt"] = time("12:00:05.5").into();
    let crashed = pod(1, &running_again(), &ended("Error", "11:59:58", "12:00:01"), None);
    let calls = cluster(&workshop, &crashed).run_operator(at("12:00:07")).await;
    assert_eq!(records(&calls), [record(1, &["12:00:01"])]);
    assert_eq!(last(&calls)["lastCrash"], crash("12:00:01", "crashed"));
}

#[tokio::test(start_paused = true)]
async fn crash_of_app_without_kept_files_fails_or_restarts_without_a_record() {
    let workshop = running();
    for (reason, state, expected) in [
        ("OOMKilled", running_again(), "Failed out-of-memory"),
        ("Error", backoff(), "Failed crashed"),
        ("Error", running_again(), "Running"),
    ] {
        let pod = pod(1, &state, &ended(reason, "12:00:00", "12:20:00"), None);
        let calls = cluster(&workshop, &pod).run_operator(at("12:20:01")).await;
        assert_eq!(phases(&calls)[0], expected);
        assert_eq!((records(&calls), &last(&calls)["lastCrash"]), (vec![], &Value::Null));
    }
}

#[tokio::test(start_paused = true)]
async fn end_of_the_whole_pod_is_no_crash() {
    let ended = ended("Error", "12:00:00", "12:20:00");
    let mut leaving = pod(0, &ended, &Value::Null, None);
    leaving["metadata"]["deletionTimestamp"] = time("12:20:00").into();
    let mut refused = pod(0, &ended, &Value::Null, None);
    refused["status"]["phase"] = "Failed".into();
    let mut evicted = pod(0, &ended, &Value::Null, None);
    evicted["status"]["conditions"] =
        json!([{ "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI" }]);
    for pod in [leaving, refused, evicted] {
        let calls = cluster(&workshop(), &pod).run_operator(at("12:20:01")).await;
        assert!(
            records(&calls).is_empty() && statuses(&calls).all(|status| status["lastCrash"].is_null()),
            "{calls:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn last_crash_stays_in_the_status_until_the_end() {
    let mut workshop = workshop();
    workshop["status"]["lastCrash"] = crash("12:15:00", "out-of-memory");
    workshop["status"]["phase"] = "Starting".into();
    // The successor of the pod in which the app crashed.
    let next = pod(0, &running_again(), &Value::Null, None);
    for (now, phase) in [("12:20:00", "Running"), ("13:00:00", "Expired")] {
        let calls = cluster(&workshop, &next).run_operator(at(now)).await;
        assert_eq!(
            (&last(&calls)["phase"], &last(&calls)["lastCrash"]),
            (&json!(phase), &crash("12:15:00", "out-of-memory"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn missing_command_or_crash_loop_of_the_sidecar_fails_at_once() {
    for (container, reason, expected) in
        [("app", "StartError", "Failed invalid-spec"), ("sidecar", "Error", "Failed crashed")]
    {
        let mut pod = pod(1, &backoff(), &ended(reason, "12:20:00", "12:20:00"), None);
        pod["status"]["containerStatuses"][0]["name"] = container.into();
        let calls = cluster(&workshop(), &pod).run_operator(at("12:20:01")).await;
        assert_eq!(phases(&calls)[0], expected);
    }
}
