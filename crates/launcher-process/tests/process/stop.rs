use std::time::Duration;

use launcher_process::stop::Stop;
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::in_time;

#[tokio::test(start_paused = true)]
async fn stop_waits_for_task_that_ends_within_grace() {
    let stop = Stop::new();
    let (done, finished) = oneshot::channel();
    let asked = stop.clone();
    stop.track(async move {
        asked.requested().await;
        tokio::time::sleep(Duration::from_secs(5)).await; // simulated time
        done.send(()).unwrap();
    });
    assert!(stop.finish(Duration::from_secs(10)).await);
    finished.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn stop_drops_task_that_exceeds_grace() {
    let stop = Stop::new();
    let (done, finished) = oneshot::channel::<()>();
    stop.track(async move {
        tokio::time::sleep(Duration::from_secs(60)).await; // simulated time
        done.send(()).unwrap();
    });
    assert!(!stop.finish(Duration::from_secs(10)).await);
    finished.await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn finish_requests_the_stop_and_returns_with_the_last_task() {
    let stop = Stop::new();
    assert!(!stop.is_requested());
    for seconds in [1, 3] {
        let asked = stop.clone();
        stop.track(async move {
            asked.requested().await;
            tokio::time::sleep(Duration::from_secs(seconds)).await; // simulated time
        });
    }
    let begun = Instant::now();
    assert!(stop.finish(Duration::from_secs(10)).await);
    assert!(stop.is_requested());
    assert_eq!(begun.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn finish_without_tasks_returns_at_once() {
    let begun = Instant::now();
    assert!(Stop::new().finish(Duration::from_secs(10)).await);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn forced_stop_with_ended_tasks_is_not_in_time() {
    // Repeated, because an unbiased select would choose the right branch in half of the runs.
    for _ in 0..32 {
        let stop = Stop::new();
        let hanging = stop.track(std::future::pending());
        tokio::task::yield_now().await;
        let patient = stop.clone();
        let patient = tokio::spawn(async move { patient.finish(Duration::from_secs(60)).await });
        tokio::task::yield_now().await;
        assert!(!stop.finish(Duration::from_secs(1)).await);
        assert!(!patient.await.unwrap());
        hanging.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn drain_time_begins_when_stop_is_requested() {
    let stop = Stop::new().with_drain(Duration::from_secs(20));
    let begun = Instant::now();
    let request_later = async {
        tokio::time::sleep(Duration::from_secs(5)).await; // simulated time
        assert!(!stop.is_requested());
        stop.request();
    };
    tokio::join!(stop.drained(), request_later);
    assert_eq!(begun.elapsed().as_secs(), 25);
}

#[tokio::test(start_paused = true)]
async fn stop_without_drain_time_is_drained_at_once() {
    let stop = Stop::new();
    stop.request();
    let begun = Instant::now();
    stop.drained().await;
    assert!(begun.elapsed().as_secs() < 1);
}

#[tokio::test(start_paused = true)]
async fn forced_stop_ends_the_drain() {
    let stop = Stop::new().with_drain(Duration::from_secs(600));
    let drained = stop.clone();
    let waiting = tokio::spawn(async move { drained.drained().await });
    let hanging = stop.track(std::future::pending());
    let begun = Instant::now();
    assert!(!stop.finish(Duration::from_secs(1)).await);
    hanging.await.unwrap();
    waiting.await.unwrap();
    stop.forced().await;
    assert_eq!(begun.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn stop_request_cancels_token_but_not_the_reverse() {
    let stop = Stop::new();
    stop.token().cancel();
    assert!(!stop.is_requested());
    let token = stop.token();
    assert!(!token.is_cancelled());
    stop.request();
    token.cancelled().await;
}

#[tokio::test]
async fn first_signal_requests_the_stop_and_second_forces_it() {
    let stop = Stop::on_signals().unwrap();
    assert!(!stop.is_requested());
    kill_process(getpid(), Signal::TERM).unwrap();
    in_time(stop.requested()).await;
    let hanging = stop.track(std::future::pending());
    assert!(!hanging.is_finished(), "one signal forces nothing");
    kill_process(getpid(), Signal::INT).unwrap();
    in_time(stop.forced()).await;
    in_time(hanging).await.unwrap();
}
