//! Tests that the operator never creates or deletes resources based on a stale watch cache.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, child, deletes, route_kinds, statuses, with_children};
use crate::support::{at, pod_object, running};

/// Returns the object after a change, with a new resource version.
fn changed(before: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut after = before.clone();
    after["metadata"]["resourceVersion"] = "6".into();
    change(&mut after);
    after
}

fn extended(before: &Value) -> Value {
    changed(before, |workshop| workshop["spec"]["expiresAt"] = "2026-01-01T14:00:00Z".into())
}

fn asked(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|(what, _)| what.as_str()).collect()
}

fn deleted(calls: &[Call]) -> Vec<&str> {
    asked(calls).into_iter().filter(|what| what.starts_with("DELETE")).collect()
}

fn phases(calls: &[Call]) -> Vec<&str> {
    statuses(calls).filter_map(|status| status["phase"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn expired_status_is_written_before_the_workload_is_deleted() {
    let seen = running();
    let calls = with_children(&seen).listed("workshops", &seen).by_now(&seen).run_operator(at("13:00:01")).await;
    assert_eq!(asked(&calls)[..2], ["GET workshops", "PATCH workshops/status"]);
    assert_eq!(phases(&calls), ["Expired"]);
    assert_eq!(deleted(&calls), deletes());
}

#[tokio::test(start_paused = true)]
async fn extended_workshop_in_stale_cache_does_not_expire() {
    let seen = running();
    let cluster = with_children(&seen).listed("workshops", &seen).by_now(&extended(&seen));
    let calls = cluster.run_operator(at("13:00:01")).await;
    assert!(asked(&calls).contains(&"GET workshops"), "{calls:?}");
    assert_eq!((phases(&calls).contains(&"Expired"), deleted(&calls)), (false, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn workshop_extended_during_its_expiry_keeps_its_workload() {
    let seen = running();
    let cluster = with_children(&seen).listed("workshops", &seen).by_now(&seen).then(&extended(&seen));
    let calls = cluster.run_operator(at("13:00:01")).await;
    assert_eq!(
        phases(&calls)[0],
        "Expired",
        "the operator writes Expired, and the API server refuses the outdated write"
    );
    assert_eq!(deleted(&calls), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn corrected_workshop_in_stale_cache_does_not_fail() {
    let right = running();
    let wrong = changed(&right, |workshop| workshop["spec"]["appType"] = "nonsense".into());
    let cluster = || with_children(&right).listed("workshops", &wrong);
    let calls = cluster().by_now(&right).run_operator(at("12:30:00")).await;
    assert_eq!((phases(&calls).contains(&"Failed"), deleted(&calls)), (false, Vec::new()));
    let calls = cluster().by_now(&wrong).run_operator(at("12:30:00")).await;
    assert_eq!(phases(&calls), ["Failed"]);
    assert_eq!(deleted(&calls), deletes());
}

#[tokio::test(start_paused = true)]
async fn unreadable_workshop_in_stale_cache_fails_neither_its_correction_nor_its_successor() {
    let mut unreadable = running();
    unreadable["spec"]["port"] = "eighty".into();
    let corrected = changed(&running(), |workshop| workshop["metadata"]["generation"] = 3.into());
    let successor = changed(&running(), |workshop| workshop["metadata"]["uid"] = "another".into());
    for live in [corrected, successor] {
        let cluster = Cluster::default().listed("workshops", &unreadable).by_now(&live);
        assert_eq!(asked(&cluster.run_operator(at("12:30:00")).await), ["GET workshops"]);
    }
}

#[tokio::test(start_paused = true)]
async fn deleted_workshop_in_stale_cache_gets_no_workload() {
    let seen = running();
    let cluster = || Cluster::default().listed("workshops", &seen);
    let leaving = changed(&seen, |workshop| workshop["metadata"]["deletionTimestamp"] = "2026-01-01T12:29:59Z".into());
    let another = changed(&seen, |workshop| workshop["metadata"]["uid"] = "another".into());
    for cluster in [cluster(), cluster().by_now(&leaving), cluster().by_now(&another)] {
        assert_eq!(asked(&cluster.run_operator(at("12:30:00")).await), ["GET workshops"]);
    }
    let calls = cluster().by_now(&seen).run_operator(at("12:30:00")).await;
    assert_eq!(asked(&calls)[..4], ["GET workshops", "POST pods", "PATCH services", "PATCH ingresses"]);
}

#[tokio::test(start_paused = true)]
async fn workshop_with_complete_workload_is_reconciled_without_live_read() {
    let seen = running();
    let calls = with_children(&seen).listed("workshops", &seen).by_now(&seen).run_operator(at("12:30:00")).await;
    assert!(!asked(&calls).contains(&"GET workshops"), "{calls:?}");
    assert!(asked(&calls).contains(&"PATCH workshops/status"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn pod_is_never_deleted_without_live_read_even_if_it_becomes_replaceable_during_a_reconcile() {
    // The pod is replaceable from 12:00:10 on. In some of these runs, this time passes within one reconcile.
    let seen = running();
    let ended = pod_object(&json!({ "phase": "Failed", "reason": "OutOfcpu" }));
    for second in 0..10 {
        let cluster = with_children(&seen).relisted("pods", &ended).listed("workshops", &seen).by_now(&seen);
        let cluster = cluster.with_clock_step(Duration::from_secs(1));
        let calls = cluster.run_operator(at(&format!("12:00:0{second}"))).await;
        let of_interest = |what: &&str| ["GET workshops", "DELETE pods"].contains(what);
        let found: Vec<_> = asked(&calls).into_iter().filter(of_interest).collect();
        assert_eq!(found[..2], ["GET workshops", "DELETE pods"], "from second {second}");
    }
}

/// A cluster whose watch reports that the Workshop is gone, although the resources of the Workshop still exist.
fn vanished(workshop: &Value) -> Cluster {
    with_children(workshop).listed("workshops", workshop).vanishing("workshops", Duration::from_secs(1), workshop)
}

#[tokio::test(start_paused = true)]
async fn resources_of_vanished_workshop_are_deleted_once_after_a_live_read() {
    let seen = running();
    let calls = vanished(&seen).run_operator(at("12:30:00")).await;
    let read = asked(&calls).iter().rposition(|what| *what == "GET workshops").unwrap();
    assert_eq!(asked(&calls)[read + 1..], deletes());
    let uids: Vec<_> = calls[read + 1..].iter().map(|(_, options)| &options["preconditions"]["uid"]).collect();
    assert!(uids.iter().all(|uid| **uid == "child" || **uid == "pod"), "{uids:?}");
}

#[tokio::test(start_paused = true)]
async fn workshop_that_only_the_watch_reports_as_gone_keeps_its_resources() {
    let seen = running();
    let another = changed(&seen, |workshop| workshop["metadata"]["uid"] = "another".into());
    for live in [&seen, &another] {
        let calls = vanished(&seen).by_now(live).run_operator(at("12:30:00")).await;
        assert!(asked(&calls).contains(&"GET workshops"), "{calls:?}");
        assert_eq!(deleted(&calls), Vec::<&str>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn resources_of_vanished_workshop_that_are_being_deleted_need_no_request() {
    let seen = running();
    let leaving = |mut object: Value| {
        object["metadata"]["deletionTimestamp"] = "2026-01-01T12:29:59Z".into();
        object
    };
    let cluster = route_kinds().fold(vanished(&seen), |cluster, kind| cluster.relisted(kind, &leaving(child(&seen))));
    let calls = cluster.relisted("pods", &leaving(pod_object(&json!({})))).run_operator(at("12:30:00")).await;
    assert!(!asked(&calls).contains(&"GET workshops"), "{calls:?}");
    assert_eq!(deleted(&calls), Vec::<&str>::new());
}
