//! Tests of the leader election: which operator may act, and until when. Some run the whole operator with the Lease of a simulated
//! cluster.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use launcher_operator::lease::{Fence, NotLeading, ObservedLease};
use launcher_operator::{Operator, run};
use launcher_process::stop::Stop;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, pause, timeout};

use crate::cluster::{Call, Cluster, child, statuses, with_children};
use crate::support::{at, pod_object, running};

const DURATION: Duration = Duration::from_secs(15);

fn held_by(holder: Option<&str>, transitions: i32) -> Lease {
    let spec = LeaseSpec {
        holder_identity: holder.map(str::to_owned),
        lease_duration_seconds: Some(15),
        lease_transitions: Some(transitions),
        ..LeaseSpec::default()
    };
    Lease { spec: Some(spec), ..Lease::default() }
}

#[test]
fn free_lease_and_own_lease_are_taken_at_once() {
    let now = Instant::now();
    for lease in [Lease::default(), held_by(None, 1), held_by(Some(""), 1), held_by(Some("me"), 1)] {
        assert!(ObservedLease::default().may_take(&lease, "me", now));
    }
}

#[test]
fn foreign_lease_is_taken_after_its_duration_without_renewal() {
    let mut watched = ObservedLease::default();
    let (start, lease) = (Instant::now(), held_by(Some("other"), 1));
    assert!(!watched.may_take(&lease, "me", start));
    assert!(!watched.may_take(&lease, "me", start + DURATION));
    assert!(watched.may_take(&lease, "me", start + DURATION + Duration::from_millis(1)));
}

#[test]
fn renewal_of_foreign_lease_restarts_the_wait() {
    let mut watched = ObservedLease::default();
    let start = Instant::now();
    assert!(!watched.may_take(&held_by(Some("other"), 1), "me", start));
    assert!(!watched.may_take(&held_by(Some("other"), 2), "me", start + DURATION * 2));
    assert!(!watched.may_take(&held_by(Some("other"), 2), "me", start + DURATION * 3));
    assert!(watched.may_take(&held_by(Some("other"), 2), "me", start + DURATION * 4));
}

#[tokio::test]
async fn leader_fence_closes_before_standby_may_take_the_lease() {
    pause();
    let asked = Instant::now();
    let fence = Fence::new(asked, DURATION);
    // The leader must stop after 4/5 of the lease duration. A standby waits for the whole duration.
    advance(DURATION * 4 / 5 - Duration::from_millis(1)).await;
    assert_eq!(fence.check(), Ok(()));
    advance(Duration::from_millis(1)).await;
    assert_eq!(fence.check(), Err(NotLeading));
    let mut standby = ObservedLease::default();
    standby.may_take(&held_by(Some("other"), 1), "me", asked);
    assert!(!standby.may_take(&held_by(Some("other"), 1), "me", Instant::now()));
}

#[tokio::test]
async fn fence_is_extended_from_time_of_renewal_request_and_stays_closed_after_close() {
    pause();
    let fence = Fence::new(Instant::now(), DURATION);
    let asked = Instant::now();
    advance(Duration::from_secs(10)).await;
    fence.renewed(asked, DURATION);
    advance(Duration::from_secs(2)).await;
    assert_eq!(fence.check(), Err(NotLeading), "twelve seconds after the renewal was asked for");
    fence.renewed(Instant::now(), DURATION);
    assert_eq!(fence.check(), Ok(()));
    fence.close();
    fence.renewed(Instant::now(), DURATION);
    assert_eq!(fence.check(), Err(NotLeading));
}

const ME: &str = "test_00000000";

/// A cluster with a Workshop whose status the next leader writes.
fn cluster() -> Cluster {
    let workshop = running();
    with_children(&workshop).listed("workshops", &workshop).by_now(&workshop)
}

/// The Lease, held by another operator.
fn held() -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": "workshop-operator", "namespace": "workshops", "resourceVersion": "1" },
        "spec": { "holderIdentity": "other", "leaseDurationSeconds": 15, "leaseTransitions": 4 },
    })
}

/// Runs the operator for the duration `time`. Returns its requests, except lists and requests for the Lease.
async fn run_for(operator: &Operator, cluster: &Cluster, time: Duration) -> Vec<Call> {
    assert!(timeout(time, run(operator.clone(), Stop::new())).await.is_err(), "it ended by itself");
    cluster.calls()
}

#[tokio::test(start_paused = true)]
async fn standby_acts_only_after_the_foreign_lease_expired() {
    let cluster = cluster();
    cluster.store("leases", held());
    let operator = cluster.operator(at("12:30:00"));
    assert_eq!(run_for(&operator, &cluster, Duration::from_secs(15)).await, []);
    assert_eq!(cluster.lease().unwrap()["spec"]["holderIdentity"], "other");
    assert_eq!(operator.ready(), Ok(()), "a standby is ready");
    assert_ne!(run_for(&operator, &cluster, Duration::from_secs(30)).await, []);
    let spec = cluster.lease().unwrap()["spec"].clone();
    assert_eq!((&spec["holderIdentity"], &spec["leaseTransitions"]), (&json!(ME), &json!(5)));
}

#[tokio::test(start_paused = true)]
async fn first_lease_names_holder_and_duration() {
    let cluster = cluster();
    let operator = cluster.operator(at("12:30:00"));
    run_for(&operator, &cluster, Duration::from_secs(1)).await;
    let spec = cluster.lease().unwrap()["spec"].clone();
    let (holder, acquired) = (&spec["holderIdentity"], &spec["acquireTime"]);
    assert_eq!((holder, acquired), (&json!(ME), &json!("2026-01-01T12:30:00.000000Z")));
    assert_eq!((&spec["leaseDurationSeconds"], &spec["leaseTransitions"]), (&json!(15), &json!(0)));
    assert_eq!(spec["renewTime"], spec["acquireTime"]);
}

#[tokio::test(start_paused = true)]
async fn renewal_changes_only_the_renew_time() {
    let cluster = cluster();
    let operator = cluster.operator(at("12:30:00"));
    run_for(&operator, &cluster, Duration::from_secs(60)).await;
    let spec = cluster.lease().unwrap()["spec"].clone();
    assert_eq!((&spec["acquireTime"], &spec["leaseTransitions"]), (&json!("2026-01-01T12:30:00.000000Z"), &json!(0)));
    assert!(spec["renewTime"].as_str().unwrap() > "2026-01-01T12:30:50", "{spec}");
}

#[tokio::test(start_paused = true)]
async fn operator_that_stops_releases_its_lease() {
    let (cluster, stop) = (cluster(), Stop::new());
    let ended = tokio::spawn(run(cluster.operator(at("12:30:00")), stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
    stop.request();
    timeout(Duration::from_secs(5), ended).await.unwrap().unwrap(); // simulated time
    let spec = cluster.lease().unwrap()["spec"].clone();
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&json!(""), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn former_leader_keeps_the_lease_of_its_successor_when_it_stops() {
    let (cluster, stop) = (cluster(), Stop::new());
    let ended = tokio::spawn(run(cluster.operator(at("12:30:00")), stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
    cluster.store("leases", held());
    stop.request();
    timeout(Duration::from_secs(5), ended).await.unwrap().unwrap(); // simulated time
    assert_eq!(cluster.lease(), Some(held()));
}

#[tokio::test(start_paused = true)]
async fn leader_without_renewal_stops_acting_before_its_lease_expires() {
    // The Workshop expires 13.5 s after the last successful Lease request: after the fence closes (12 s), and before
    // the lease expires (15 s).
    let cluster = cluster();
    let running = tokio::spawn(run(cluster.operator(at("12:59:46.5")), Stop::new()));
    tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
    assert_ne!(cluster.calls(), []);
    let cluster = cluster.refusing("leases", 500, "etcdserver: request timed out");
    tokio::time::sleep(Duration::from_secs(60)).await; // simulated time
    assert_eq!(cluster.calls(), []);
    // It leads again when the API server accepts its Lease, and ends the Workshop then.
    let cluster = cluster.accepting("leases");
    tokio::time::sleep(Duration::from_secs(60)).await; // simulated time
    assert!(statuses(&cluster.calls()).any(|status| status["phase"] == "Expired"));
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn leader_changes_nothing_after_its_fence_closes_while_it_waits_for_the_answer_to_a_renewal() {
    // The fence closes after 12 s. The second renewal without an answer ends 0.19 s later: until then, the operator still
    // reconciles each change.
    let late = Duration::from_millis(12_100);
    let workshop = running();
    let mut pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    pod["metadata"]["resourceVersion"] = "1".into();
    let (mut leaving, mut edited) = (workshop.clone(), child(&workshop));
    leaving["metadata"]["resourceVersion"] = "6".into();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:30:12Z".into();
    edited["metadata"]["resourceVersion"] = "2".into();
    let cluster = || cluster().relisted("pods", &pod);
    for (change, cluster, from) in [
        ("the Workshop expires", cluster(), "12:59:47.9"),
        ("the Workshop is deleted", cluster().changing("workshops", late, &leaving), "12:30:00"),
        ("the pod is gone", cluster().vanishing("pods", late, &pod), "12:30:00"),
        ("the Ingress is edited", cluster().changing("ingresses", late, &edited), "12:30:00"),
    ] {
        let running = tokio::spawn(run(cluster.operator(at(from)), Stop::new()));
        tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
        assert_ne!(cluster.calls(), [], "{change}");
        let cluster = cluster.ignoring("leases");
        tokio::time::sleep(Duration::from_secs(60)).await; // simulated time
        let writes: Vec<_> = cluster.calls().into_iter().filter(|(what, _)| !what.starts_with("GET")).collect();
        assert_eq!(writes, [], "{change}");
        running.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn leadership_lost_to_another_operator_ends_all_changes() {
    // The Workshop expires at 13:00. Another operator has the Lease then, so this operator must not terminate the
    // Workshop.
    let cluster = cluster();
    let running = tokio::spawn(run(cluster.operator(at("12:59:30")), Stop::new()));
    tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
    assert_ne!(cluster.calls(), []);
    // Another operator takes the Lease now, and renews it every 10 seconds.
    for transitions in 0..10 {
        let mut lease = held();
        lease["spec"]["leaseTransitions"] = transitions.into();
        cluster.store("leases", lease);
        tokio::time::sleep(Duration::from_secs(10)).await; // simulated time
    }
    assert_eq!(cluster.calls(), []);
    assert_eq!(cluster.lease().unwrap()["spec"]["holderIdentity"], "other");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn refused_lease_request_makes_operator_unready_and_conflict_does_not() {
    let unready = Err("the Lease workshop-operator could not be read or written".to_owned());
    for (code, message, ready) in [(403, "leases is forbidden", unready), (409, "already exists", Ok(()))] {
        let cluster = cluster().refusing("leases", code, message);
        let operator = cluster.operator(at("12:30:00"));
        assert!(operator.ready().is_err(), "the API server has not answered yet");
        assert_eq!(run_for(&operator, &cluster, Duration::from_secs(60)).await, [], "{code}");
        assert_eq!(operator.ready(), ready, "{code}");
    }
}
