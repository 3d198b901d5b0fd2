use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::sync::oneshot;

#[tokio::test(start_paused = true)]
async fn task_finishes_within_the_stop_timeout() {
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
async fn task_beyond_the_stop_timeout_is_dropped() {
    let stop = Stop::new();
    let (done, finished) = oneshot::channel::<()>();
    stop.track(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        done.send(()).unwrap();
    });
    assert!(!stop.finish(Duration::from_secs(10)).await);
    finished.await.unwrap_err();
}
