//! Tests of a Workshop with a pod and a Deployment: an earlier version was installed again and created the Deployment.

use k8s_openapi::api::apps::v1::Deployment;
use launcher_operator::workload::Plan;
use serde_json::json;

use crate::cluster::{child, statuses, with_routes};
use crate::support::{at, running};
use crate::workload::{created_by_deployment, listed, plan, pod, wanted, writes};

fn leaving(mut deployment: Deployment) -> Deployment {
    deployment.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-01-01T12:00:00Z")).unwrap());
    deployment
}

#[test]
fn deployment_is_deleted_if_its_workshop_has_its_own_pod() {
    let deployment = Deployment::default();
    for phase in ["Pending", "Running"] {
        let pods = [created_by_deployment(), pod(json!({ "phase": phase }))];
        assert_eq!(plan(Some(&deployment), &pods, &wanted(|_| {})), Plan::DeleteDeployment(&deployment), "{phase}");
        assert_eq!(plan(Some(&leaving(deployment.clone())), &pods, &wanted(|_| {})), Plan::Keep, "{phase}");
    }
}

#[test]
fn deployment_is_kept_if_its_workshop_has_no_live_pod_of_its_own() {
    let mut terminating = pod(json!({ "phase": "Running" }));
    terminating.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-01-01T12:00:00Z")).unwrap());
    let mut foreign = pod(json!({ "phase": "Running" }));
    foreign.metadata.owner_references.as_mut().unwrap()[0].uid = "another".to_owned();
    for pod in [terminating, foreign, created_by_deployment()] {
        assert_eq!(plan(Some(&Deployment::default()), &[pod], &wanted(|_| {})), Plan::Keep);
    }
}

#[test]
fn ended_pod_is_deleted_and_the_deployment_stays() {
    let pods = [created_by_deployment(), pod(json!({ "phase": "Failed", "reason": "OutOfcpu" }))];
    assert_eq!(plan(Some(&Deployment::default()), &pods, &wanted(|_| {})), Plan::Delete(&pods[1]));
}

#[tokio::test(start_paused = true)]
async fn own_pod_stays_and_deployment_of_the_earlier_version_is_deleted() {
    let workshop = running();
    let own = listed(&pod(json!({ "conditions": [{ "type": "Ready", "status": "True" }] })));
    let mut other = listed(&created_by_deployment());
    other["metadata"]["name"] = "intro-1".into();
    let cluster = with_routes(&workshop).listed("deployments", &child(&workshop)).listed("pods", &other);
    let cluster = cluster.listed("pods", &own).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.run_operator(at("12:30:00")).await;
    assert!(!writes(&calls).is_empty());
    assert!(writes(&calls).iter().all(|what| *what == "DELETE deployments"), "{calls:?}");
    let first =
        calls.iter().map(|(what, _)| what).find(|what| ["GET workshops", "DELETE deployments"].contains(&&***what));
    assert_eq!(first.unwrap(), "GET workshops");
    let status = statuses(&calls).last().unwrap();
    assert_eq!((&status["phase"], &status["podOutdated"]), (&json!("Running"), &json!(null)));
}
