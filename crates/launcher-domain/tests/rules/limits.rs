use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{EndReason, InstanceState, LaunchRate};

use crate::{at, instance};

/// Six launches per minute: one token every ten seconds.
const RATE: LaunchRate = LaunchRate { per_minute: 6, burst: 3 };

/// Takes `tokens` from the bucket at `now`, and returns the time at which the bucket is full again.
fn take(tokens: u32, full_at: Timestamp, now: Timestamp) -> Timestamp {
    (0..tokens).fold(full_at, |full_at, _| RATE.take(full_at, now).unwrap())
}

#[test]
fn full_bucket_gives_its_burst_and_then_one_token_per_interval() {
    let empty = take(3, at(0), at(1000));
    assert_eq!(RATE.take(empty, at(1000)), Err(Duration::from_secs(10)));
    assert_eq!(RATE.take(empty, at(1009)), Err(Duration::from_secs(1)));
    assert_eq!(RATE.take(empty, at(1010) - SignedDuration::from_millis(1)), Err(Duration::from_millis(1)));
    let empty = take(1, empty, at(1010));
    assert_eq!(RATE.take(empty, at(1010)), Err(Duration::from_secs(10)));
}

#[test]
fn bucket_is_full_again_after_one_interval_per_token() {
    assert_eq!(take(1, at(0), at(1000)), at(1010));
    let empty = take(3, at(0), at(1000));
    assert_eq!(empty, at(1030));
    assert_eq!(RATE.take(take(3, empty, at(1030)), at(1030)), Err(Duration::from_secs(10)));
}

#[test]
fn idle_bucket_holds_no_more_than_its_burst() {
    let empty = take(3, at(0), at(1_000_000));
    assert!(RATE.take(empty, at(1_000_000)).is_err());
}

#[test]
fn bucket_time_too_far_in_future_delays_launch_by_one_interval() {
    for (full_at, now) in [(at(9_000_000), at(0)), (Timestamp::MAX, Timestamp::MIN), (at(31), at(0))] {
        assert_eq!(RATE.take(full_at, now), Err(Duration::from_secs(10)));
    }
    assert!(RATE.take(Timestamp::MIN, Timestamp::MAX).is_ok());
}

#[test]
fn extreme_launch_rates_do_not_overflow_and_still_refill() {
    for per_minute in [0, 1, 7, 60_000, u32::MAX] {
        for burst in [0, 1, u32::MAX] {
            let rate = LaunchRate { per_minute, burst };
            let after = rate.take(at(0), at(1000)).unwrap();
            assert!(after > at(1000), "{rate:?}");
            if burst <= 1 {
                let wait = rate.take(after, at(1000)).unwrap_err();
                assert!(rate.take(after, at(1000) + SignedDuration::try_from(wait).unwrap()).is_ok(), "{rate:?}");
            }
        }
    }
}

#[test]
fn state_and_end_reason_decide_if_instance_counts_against_limit() {
    for (state, end_reason, counts) in [
        (InstanceState::Queued, None, true),
        (InstanceState::Starting, None, true),
        (InstanceState::Running, None, true),
        (InstanceState::Suspending, None, true),
        (InstanceState::Suspended, None, false),
        (InstanceState::Terminating, Some(EndReason::Owner), true),
        (InstanceState::Terminating, Some(EndReason::Admin), true),
        (InstanceState::Terminating, Some(EndReason::Expired), true),
        (InstanceState::Terminating, Some(EndReason::Failed), false),
        (InstanceState::Failed, Some(EndReason::Failed), false),
        (InstanceState::Terminated, Some(EndReason::Owner), false),
    ] {
        let mut row = instance(state);
        row.end_reason = end_reason;
        assert_eq!(row.counts_against_limit(), counts, "{state:?} {end_reason:?}");
    }
}
