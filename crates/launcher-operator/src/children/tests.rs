use std::time::Duration;

use kube::runtime::watcher::Event;
use tokio::time::timeout;

use super::*;

#[tokio::test(start_paused = true)]
async fn all_reconciles_continue_after_initial_lists_are_complete() {
    let (children, mut watches) = Children::new();
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let children = children.clone();
            tokio::spawn(async move { children.ready().await })
        })
        .collect();
    tokio::task::yield_now().await;
    watches.services.apply_watcher_event(&Event::InitDone);
    watches.ingresses.apply_watcher_event(&Event::InitDone);
    watches.pods.apply_watcher_event(&Event::InitDone);
    for waiter in waiters {
        timeout(Duration::from_secs(5), waiter).await.unwrap().unwrap().unwrap();
    }
}
