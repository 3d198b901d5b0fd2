//! Contract of the port [`Fleet`](launcher_fleet::Fleet): the rules that every adapter follows, because the service
//! relies on them.
//!
//! The test of an adapter implements [`FleetHarness`] and calls [`assert_fleet_contract`].

mod apply;
mod archives;
mod delete;
mod harness;
mod identity;
mod read;
mod refuse;
mod secrets;
mod status;
mod watch;
mod watcher;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

pub use harness::{FleetHarness, contract_workshop};

/// One rule. It panics if the adapter breaks it.
type Rule = for<'a> fn(&'a dyn FleetHarness) -> LocalBoxFuture<'a, ()>;

macro_rules! rules {
    ($($group:ident::$rule:ident),+ $(,)?) => {
        &[$((stringify!($group::$rule), |harness| $group::$rule(harness).boxed_local())),+]
    };
}

/// All rules. Each rule uses its own Workshop names, so a broken rule does not affect the others.
const RULES: &[(&str, Rule)] = rules![
    apply::new_workshop_gets_uid,
    apply::repeated_apply_changes_nothing,
    apply::changed_spec_keeps_uid,
    apply::concurrent_applies_create_one_workshop,
    apply::apply_with_uid_of_deleted_workshop_creates_nothing,
    apply::apply_with_other_uid_changes_nothing,
    secrets::secret_values_are_not_in_the_workshop,
    secrets::later_apply_may_omit_secret_values,
    refuse::invalid_name_is_refused,
    refuse::invalid_owner_is_refused,
    refuse::changed_owner_or_image_is_refused,
    read::get_of_missing_workshop_returns_none,
    read::spec_round_trips_exactly,
    read::labels_and_annotations_round_trip,
    read::apply_restores_labels_and_annotations,
    archives::files_of_missing_workshop_are_refused,
    archives::files_of_workshop_with_volume_are_no_snapshot,
    delete::delete_of_missing_workshop_returns_gone,
    delete::deleted_workshop_is_reported_and_gone,
    delete::repeated_delete_ends_as_gone,
    delete::delete_with_other_uid_leaves_workshop,
    delete::name_is_usable_again_with_new_uid,
    watch::watch_begins_with_all_workshops,
    watch::every_watcher_sees_every_change,
    watch::earlier_and_later_watch_agree,
    watch::dropped_watch_does_not_affect_others,
    identity::identity_is_constant,
    identity::identity_differs_between_fleets,
    identity::workshops_survive_reopening,
    status::applied_workshop_reaches_running,
    status::apply_keeps_status,
    status::past_expiry_ends_workshop,
];

/// Checks all rules, one after the other. Prints the name of each before it begins.
///
/// # Panics
/// The adapter breaks a rule. Panics after the check of all rules, and names the broken ones.
#[expect(clippy::print_stdout, reason = "the name of a rule belongs to the output of the failed assertion")]
pub async fn assert_fleet_contract(harness: &dyn FleetHarness) {
    let mut broken = Vec::new();
    for (name, rule) in RULES {
        println!("-- {name}");
        if AssertUnwindSafe(rule(harness)).catch_unwind().await.is_err() {
            broken.push(*name);
        }
    }
    assert!(broken.is_empty(), "the adapter breaks these rules of the port Fleet: {}", broken.join(", "));
}
