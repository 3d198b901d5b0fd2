use launcher_domain::InstanceState;
use launcher_domain::lifetime::{ExtendError, extension};
use proptest::prelude::*;

use crate::{at, instance};

#[test]
fn extension_beyond_the_limit_is_refused() {
    let mut running = instance(InstanceState::Running);
    for hours in 3..=8 {
        running = running.extend(None, at(0)).unwrap();
        assert_eq!(running.expires_at, Some(at(hours * 3600)));
    }
    assert_eq!(running.extend(None, at(0)), Err(ExtendError::LifetimeLimitReached));
    assert_eq!(extension(&running, at(0)).latest_expires_at, Some(at(8 * 3600)));
}

#[test]
fn the_last_extension_is_cut_at_the_limit() {
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(8 * 3600 - 60));
    assert_eq!(running.extend(None, at(0)).unwrap().expires_at, Some(at(8 * 3600)));
}

#[test]
fn a_double_click_extends_once() {
    let running = instance(InstanceState::Running);
    let seen = running.expires_at;
    let extended = running.extend(seen, at(0)).unwrap();
    assert_eq!(extended.extend(seen, at(0)), Err(ExtendError::ExpiryChanged));
}

#[test]
fn expired_instance_is_not_extended() {
    let running = instance(InstanceState::Running);
    for expected in [None, running.expires_at, Some(at(1))] {
        assert_eq!(running.extend(expected, at(7200)), Err(ExtendError::NotRunning));
    }
    assert_eq!(extension(&running, at(7200)).outcome, Err(ExtendError::NotRunning));
    assert!(running.extend(None, at(7199)).is_ok());
    assert!(extension(&running, at(7199)).outcome.is_ok());
}

#[test]
fn only_running_instance_can_be_extended() {
    for state in InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Running) {
        assert_eq!(instance(state).extend(None, at(0)), Err(ExtendError::NotRunning), "{state:?}");
        assert_eq!(extension(&instance(state), at(0)).outcome, Err(ExtendError::NotRunning), "{state:?}");
    }
}

proptest! {
    #[test]
    fn extension_never_shortens_or_exceeds_the_limit(extension in 60_u32..200_000, max in 7200_u32..300_000, clicks in 1..20) {
        let mut running = instance(InstanceState::Running);
        running.settings.extension_seconds = extension;
        running.settings.max_lifetime_seconds = max;
        for _ in 0..clicks {
            if let Ok(extended) = running.extend(running.expires_at, at(0)) {
                prop_assert!(extended.expires_at > running.expires_at);
                prop_assert!(extended.expires_at <= Some(at(i64::from(max))));
                running = extended;
            }
        }
    }
}
