use jiff::{SignedDuration, Timestamp};
use launcher_domain::lifetime::{
    Bound, ExtendError, ExtensionOutcome, extend_until, extended_expiry, extension, first_expiry,
};
use launcher_domain::{Instance, InstanceState};
use proptest::prelude::*;

use crate::{at, instance, settings};

#[test]
fn extension_at_maximum_lifetime_is_refused() {
    let mut running = instance(InstanceState::Running);
    for hours in 3..=8 {
        running = running.extend(None, Bound::Maximum, at(0)).unwrap();
        assert_eq!(running.expires_at, Some(at(hours * 3600)));
    }
    assert_eq!(running.extend(None, Bound::Maximum, at(0)), Err(ExtendError::LifetimeLimitReached));
    assert_eq!(extension(&running, at(0)).latest_expires_at, Some(at(8 * 3600)));
}

#[test]
fn extension_beyond_maximum_lifetime_is_shortened_to_it() {
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(8 * 3600 - 60));
    assert_eq!(running.extend(None, Bound::Maximum, at(0)).unwrap().expires_at, Some(at(8 * 3600)));
}

#[test]
fn second_extension_request_of_a_double_click_is_refused() {
    let running = instance(InstanceState::Running);
    let seen = running.expires_at;
    let extended = running.extend(seen, Bound::Maximum, at(0)).unwrap();
    assert_eq!(extended.extend(seen, Bound::Maximum, at(0)), Err(ExtendError::ExpiryChanged));
}

#[test]
fn expired_instance_is_not_extended() {
    let running = instance(InstanceState::Running);
    for expected in [None, running.expires_at, Some(at(1))] {
        assert_eq!(running.extend(expected, Bound::Maximum, at(7200)), Err(ExtendError::NotRunning));
    }
    assert_eq!(extension(&running, at(7200)).outcome, Err(ExtendError::NotRunning));
    assert!(running.extend(None, Bound::Maximum, at(7199)).is_ok());
    assert!(extension(&running, at(7199)).outcome.is_ok());
}

#[test]
fn only_running_instance_can_be_extended() {
    for state in InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Running) {
        assert_eq!(instance(state).extend(None, Bound::Maximum, at(0)), Err(ExtendError::NotRunning), "{state:?}");
        assert_eq!(extension(&instance(state), at(0)).outcome, Err(ExtendError::NotRunning), "{state:?}");
    }
}

#[test]
fn expiry_counts_as_moved_only_after_an_extension() {
    assert_eq!(instance(InstanceState::Starting).moved_expiry(), None);
    let running = instance(InstanceState::Running);
    assert!(running.expires_at.is_some());
    assert_eq!(running.moved_expiry(), None);
    let extended = running.extend(None, Bound::Maximum, at(0)).unwrap();
    assert_eq!(extended.moved_expiry(), extended.expires_at);
}

#[test]
fn extension_until_a_time_stops_at_the_maximum_lifetime() {
    let running = instance(InstanceState::Running);
    let (ExtensionOutcome::Extended, Some(extended)) = extend_until(&running, at(6 * 3600), Bound::Maximum, at(0))
    else {
        panic!("not extended")
    };
    assert_eq!((extended.expires_at, extended.spec_version), (Some(at(6 * 3600)), running.spec_version + 1));
    assert_eq!(extend_until(&extended, at(6 * 3600), Bound::Maximum, at(0)), (ExtensionOutcome::Unchanged, None));
    assert_eq!(
        extend_until(&extended, at(3600), Bound::Maximum, at(0)),
        (ExtensionOutcome::Unchanged, None),
        "never shortened"
    );
    let (ExtensionOutcome::Shortened, Some(longest)) = extend_until(&extended, at(9 * 3600), Bound::Maximum, at(0))
    else {
        panic!("not extended")
    };
    assert_eq!(longest.expires_at, Some(at(8 * 3600)));
    let refused = (ExtensionOutcome::Refused(ExtendError::LifetimeLimitReached), None);
    assert_eq!(extend_until(&longest, at(9 * 3600), Bound::Maximum, at(0)), refused);
    assert_eq!(extend_until(&longest, at(8 * 3600), Bound::Maximum, at(0)), (ExtensionOutcome::Unchanged, None));
}

#[test]
fn extension_until_a_time_needs_a_running_workshop() {
    let refused = (ExtensionOutcome::Refused(ExtendError::NotRunning), None);
    for state in InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Running) {
        assert_eq!(extend_until(&instance(state), at(10_000), Bound::Maximum, at(0)), refused, "{state:?}");
    }
    assert_eq!(
        extend_until(&instance(InstanceState::Running), at(10_000), Bound::Maximum, at(7200)),
        refused,
        "expired"
    );
}

proptest! {
    #[test]
    fn extension_never_shortens_or_exceeds_the_limit(extension in 60_u32..200_000, max in 7200_u32..300_000, clicks in 1..20) {
        let mut running = instance(InstanceState::Running);
        running.settings.extension_seconds = extension;
        running.settings.max_lifetime_seconds = max;
        for _ in 0..clicks {
            if let Ok(extended) = running.extend(running.expires_at, Bound::Maximum, at(0)) {
                prop_assert!(extended.expires_at > running.expires_at);
                prop_assert!(extended.expires_at <= Some(at(i64::from(max))));
                running = extended;
            }
        }
    }
}

#[test]
fn full_extension_up_to_maximum_lifetime_is_granted() {
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(7 * 3600));
    let extended = running.extend(None, Bound::Maximum, at(0)).unwrap();
    assert_eq!(extended.expires_at, Some(at(8 * 3600)));
    assert_eq!(extended.extend(None, Bound::Maximum, at(0)), Err(ExtendError::LifetimeLimitReached));
}

#[test]
fn extension_by_one_second_is_granted() {
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(8 * 3600 - 1));
    assert_eq!(running.extend(None, Bound::Maximum, at(0)).unwrap().expires_at, Some(at(8 * 3600)));
}

#[test]
fn extension_of_expiry_beyond_maximum_lifetime_is_refused() {
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(9 * 3600));
    assert_eq!(running.extend(None, Bound::Maximum, at(0)), Err(ExtendError::LifetimeLimitReached));
}

#[test]
fn extension_changes_only_expiry_and_spec_version() {
    let running = instance(InstanceState::Running);
    let extended = running.extend(None, Bound::Maximum, at(0)).unwrap();
    let expected = Instance { expires_at: Some(at(10_800)), spec_version: 2, ..running };
    assert_eq!(extended, expected);
}

#[test]
fn wrong_expected_expiry_is_reported_before_lifetime_limit() {
    let mut running = instance(InstanceState::Running);
    assert_eq!(running.extend(Some(at(7199)), Bound::Maximum, at(0)), Err(ExtendError::ExpiryChanged));
    running.expires_at = Some(at(8 * 3600));
    assert_eq!(running.extend(Some(at(7200)), Bound::Maximum, at(0)), Err(ExtendError::ExpiryChanged));
    assert_eq!(running.extend(Some(at(8 * 3600)), Bound::Maximum, at(0)), Err(ExtendError::LifetimeLimitReached));
}

#[test]
fn extension_preview_shows_extension_seconds_and_latest_expiry() {
    let mut running = instance(InstanceState::Running);
    running.settings.extension_seconds = 900;
    let preview = extension(&running, at(0));
    assert_eq!((preview.outcome, preview.extend_by_seconds), (Ok(at(7200 + 900)), 900));
    assert_eq!(preview.latest_expires_at, Some(at(28_800)));
    let starting = extension(&instance(InstanceState::Starting), at(0));
    assert_eq!((starting.extend_by_seconds, starting.latest_expires_at), (3600, None));
}

#[test]
fn running_instance_without_ready_time_or_expiry_cannot_be_extended() {
    let running = instance(InstanceState::Running);
    let incomplete = [Instance { started_at: None, ..running.clone() }, Instance { expires_at: None, ..running }];
    for instance in incomplete {
        assert_eq!(instance.extend(None, Bound::Maximum, at(0)), Err(ExtendError::NotRunning));
    }
}

#[test]
fn first_expiry_is_ready_time_plus_lifetime() {
    let mut settings = settings();
    settings.lifetime_seconds = 61;
    assert_eq!(first_expiry(at(100), &settings), at(161));
    assert_eq!(first_expiry(Timestamp::MAX, &settings), Timestamp::MAX);
}

#[test]
fn extend_errors_have_stable_codes() {
    let errors = [ExtendError::NotRunning, ExtendError::LifetimeLimitReached, ExtendError::ExpiryChanged];
    assert_eq!(errors.map(ExtendError::code), ["not-running", "lifetime-limit-reached", "expiry-changed"]);
}

proptest! {
    #[test]
    fn extension_until_any_time_is_idempotent_and_bounded(until in -1_000_000..400_000_000_i64, now in 0..10_000_i64) {
        let running = instance(InstanceState::Running);
        let until = Timestamp::from_microsecond(until * 1000 + 999).unwrap();
        match extend_until(&running, until, Bound::Maximum, at(now)) {
            (ExtensionOutcome::Extended | ExtensionOutcome::Shortened, Some(after)) => {
                prop_assert!(after.expires_at > running.expires_at && after.expires_at <= Some(at(8 * 3600)));
                let (again, _) = extend_until(&after, until, Bound::Maximum, at(now));
                prop_assert!(matches!(again, ExtensionOutcome::Unchanged | ExtensionOutcome::Refused(_)), "{:?}", again);
            }
            (ExtensionOutcome::Unchanged, None) => prop_assert!(until < at(7201)),
            (ExtensionOutcome::Refused(error), None) => {
                prop_assert_eq!((error, now >= 7200), (ExtendError::NotRunning, true))
            }
            outcome => return Err(TestCaseError::fail(format!("{outcome:?}"))),
        }
    }
}

#[test]
fn extension_beyond_maximum_ends_at_the_longest_lifetime() {
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(8 * 3600));
    let beyond = running.extend(running.expires_at, Bound::Longest, at(0)).unwrap();
    assert_eq!((beyond.expires_at, beyond.beyond_maximum()), (Some(at(9 * 3600)), Some(SignedDuration::from_hours(1))));
    assert_eq!(
        beyond.extend(running.expires_at, Bound::Longest, at(0)),
        Err(ExtendError::ExpiryChanged),
        "double click"
    );
    assert_eq!(beyond.extend(None, Bound::Maximum, at(0)), Err(ExtendError::LifetimeLimitReached));
    let longest = at(30 * 24 * 3600);
    let (ExtensionOutcome::Shortened, Some(last)) = extend_until(&beyond, Timestamp::MAX, Bound::Longest, at(0)) else {
        panic!("not extended")
    };
    assert_eq!((last.expires_at, last.started_at), (Some(longest), Some(at(0))));
    assert_eq!(last.extend(None, Bound::Longest, at(0)), Err(ExtendError::LifetimeLimitReached));
    assert_eq!(extended_expiry(&last, Bound::Longest, longest), Err(ExtendError::NotRunning), "expired");
}

#[test]
fn raised_maximum_applies_until_the_end_is_decided() {
    use InstanceState::{Failed, Terminated, Terminating};
    for state in InstanceState::ALL {
        let raised = instance(state).raise_max_lifetime(9 * 3600);
        assert_eq!(raised.is_some(), !matches!(state, Terminating | Terminated | Failed), "{state:?}");
    }
    let mut running = instance(InstanceState::Running);
    running.expires_at = Some(at(8 * 3600));
    assert_eq!(running.raise_max_lifetime(8 * 3600), None, "not larger");
    let raised = running.raise_max_lifetime(9 * 3600).unwrap();
    assert_eq!(raised.raise_max_lifetime(9 * 3600), None, "idempotent");
    assert_eq!((raised.expires_at, raised.spec_version), (running.expires_at, running.spec_version));
    let extended = raised.extend(None, Bound::Maximum, at(0)).unwrap();
    assert_eq!((extended.expires_at, extended.beyond_maximum()), (Some(at(9 * 3600)), None));
}
