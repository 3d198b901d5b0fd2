//! Events of the containers.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::sleep;

use super::support::{TestFleet, in_time};

#[tokio::test]
async fn start_end_and_removal_of_own_containers_are_events() {
    let (fleet, other) = (TestFleet::new().await, TestFleet::new().await);
    let mut events = fleet.engine.events(&fleet.id);
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let reader = tokio::spawn(async move {
        while let Some(event) = events.next().await {
            sender.send(event.unwrap()).unwrap();
        }
    });
    let of_lab = "lab".to_owned();

    // The engine may subscribe the stream a moment later: start containers until the first event.
    let mut first = None;
    for number in 0.. {
        let name = fleet.run(&format!("app{number}"), "sleep 1000").await;
        other.run(&format!("app{number}"), "sleep 1000").await;
        tokio::select! {
            event = received.recv() => first = event,
            () = sleep(Duration::from_secs(1)) => {} // pacing: time to subscribe
        }
        if first.is_some() {
            fleet.engine.stop(&name, Duration::ZERO).await.unwrap();
            assert_eq!(in_time(received.recv()).await, Some(of_lab.clone()));
            while received.try_recv().is_ok() {}
            fleet.engine.remove(&name).await.unwrap();
            assert_eq!(in_time(received.recv()).await, Some(of_lab.clone()));
            break;
        }
    }

    assert_eq!(first, Some(of_lab));
    reader.abort();
}
