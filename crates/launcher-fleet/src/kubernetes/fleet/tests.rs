use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

use super::*;

const VOLUME: &str = "work-abcdefghij";

/// Requests that an API server received: method and body.
type Calls = Arc<Mutex<Vec<(Method, Value)>>>;

/// A fleet whose API server has this claim, or none, and answers deletions with this status code.
fn fleet(claim: Option<Value>, deletion: u16) -> (KubernetesFleet, Calls) {
    let calls = Calls::default();
    let recorded = calls.clone();
    let service = service_fn(move |request: Request<Body>| {
        let (recorded, claim) = (recorded.clone(), claim.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            recorded.lock().unwrap().push((head.method.clone(), serde_json::from_slice(&body).unwrap_or_default()));
            let status = |code: u16| {
                let reason = if code == 404 { "NotFound" } else { "Unknown" };
                json!({ "kind": "Status", "apiVersion": "v1", "code": code, "message": "no", "reason": reason })
            };
            let (code, answer) = match (head.method, claim) {
                (Method::GET, Some(claim)) => (200, claim),
                (Method::GET, None) => (404, status(404)),
                _ => (deletion, status(deletion)),
            };
            let answer = Body::from(answer.to_string().into_bytes());
            Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap())
        }
    });
    (KubernetesFleet::new(Client::new(service, "workshops"), "workshops"), calls)
}

fn claim(labels: Value) -> Value {
    json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": { "name": VOLUME, "uid": "claim", "labels": labels },
    })
}

fn ours() -> Value {
    claim(json!({ "app": "workshop", "managed-by": "workshop-launcher" }))
}

fn methods(calls: &Calls) -> Vec<Method> {
    calls.lock().unwrap().iter().map(|(method, _)| method.clone()).collect()
}

#[tokio::test]
async fn claim_of_the_operator_is_deleted_by_uid() {
    for code in [200, 404] {
        let (fleet, calls) = fleet(Some(ours()), code);
        fleet.delete_volume(VOLUME).await.unwrap();
        assert_eq!(methods(&calls), [Method::GET, Method::DELETE]);
        assert_eq!(calls.lock().unwrap()[1].1["preconditions"]["uid"], "claim");
    }
}

#[tokio::test]
async fn claim_that_is_gone_or_being_deleted_is_not_deleted_again() {
    let mut leaving = ours();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z".into();
    for claim in [None, Some(leaving)] {
        let (fleet, calls) = fleet(claim, 500);
        fleet.delete_volume(VOLUME).await.unwrap();
        assert_eq!(methods(&calls), [Method::GET]);
    }
}

#[tokio::test]
async fn foreign_claim_and_invalid_name_are_refused() {
    for labels in [Value::Null, json!({ "managed-by": "Helm" })] {
        let (fleet, calls) = fleet(Some(claim(labels)), 200);
        assert!(matches!(fleet.delete_volume(VOLUME).await, Err(FleetError::Refused(_))));
        assert_eq!(methods(&calls), [Method::GET]);
    }
    let (fleet, calls) = fleet(Some(ours()), 200);
    assert!(matches!(fleet.delete_volume("database").await, Err(FleetError::Refused(_))));
    assert_eq!(methods(&calls), Vec::<Method>::new());
}

#[tokio::test]
async fn conflicting_deletion_is_retried_by_the_caller() {
    for code in [403, 409, 500] {
        let (fleet, _) = fleet(Some(ours()), code);
        assert!(matches!(fleet.delete_volume(VOLUME).await, Err(FleetError::Unavailable(_))));
    }
}
