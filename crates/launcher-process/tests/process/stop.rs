use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::sync::oneshot;

#[tokio::test(start_paused = true)]
async fn what_is_under_way_may_finish() {
    let stop = Stop::new();
    let (done, finished) = oneshot::channel();
    let asked = stop.clone();
    stop.track(async move {
        asked.requested().await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        done.send(()).unwrap();
    });
    assert!(stop.finish(Duration::from_secs(10)).await);
    finished.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_dropped() {
    let stop = Stop::new();
    let (done, finished) = oneshot::channel::<()>();
    stop.track(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        done.send(()).unwrap();
    });
    assert!(!stop.finish(Duration::from_secs(10)).await);
    finished.await.unwrap_err();
}
