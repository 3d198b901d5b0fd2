use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{
    Act, Activity, ActivityAction, EndReason, FailureCode, FailureReason, Instance, InstanceState, Template,
};
use uuid::Uuid;

use crate::{at, email, instance, settings};

fn act(who: Option<&str>) -> Act {
    Act { actor_email: who.map(email), at: at(50) }
}

/// Returns action and detail of the entry for a change.
fn told(before: &Instance, after: Option<Instance>) -> Option<(ActivityAction, Option<String>)> {
    let line = Activity::of_change(before, &after.unwrap(), &act(None))?;
    assert_eq!((line.subject.as_str(), line.subject_name.as_str()), ("jupyter-aaaaaaaaaa", "Jupyter"));
    assert_eq!((line.owner_email, line.act), (Some(email("alice@example.org")), act(None)));
    Some((line.action, line.detail))
}

fn seen(phase: ObservedPhase) -> Observation {
    Observation { phase, url: None, ready_at: Some(at(0)), log_tail: None }
}

#[test]
fn extension_end_failure_and_dismissal_are_logged() {
    use ActivityAction::{Dismissed, Ended, Extended, Failed};
    let because = |text: &str| Some(text.to_owned());
    let running = instance(InstanceState::Running);
    assert_eq!(told(&running, running.extend(None, at(0)).ok()), Some((Extended, because("1970-01-01T03:00:00.000Z"))));
    for state in [InstanceState::Queued, InstanceState::Starting, InstanceState::Running] {
        let before = instance(state);
        assert_eq!(
            told(&before, before.terminate(EndReason::Admin, at(9))),
            Some((Ended, because("admin"))),
            "{state:?}"
        );
    }
    let expired = running.observe(&seen(ObservedPhase::Expired));
    assert_eq!(told(&running, expired), Some((Ended, because("expired"))));
    assert_eq!(told(&running, running.workshop_gone(at(9))), Some((Ended, because("lost"))));
    let crashed = ObservedPhase::Failed(FailureReason::new(FailureCode::Crashed, Some("It ended with status 3.")));
    let failed = running.observe(&seen(crashed));
    assert_eq!(told(&running, failed.clone()), Some((Failed, because("crashed"))));
    let failed = failed.unwrap();
    assert_eq!(told(&failed, failed.terminate(EndReason::Owner, at(9))), Some((Dismissed, None)));
}

#[test]
fn readiness_and_completed_termination_are_not_logged() {
    let starting = instance(InstanceState::Starting);
    assert_eq!(told(&starting, starting.observe(&seen(ObservedPhase::Running))), None);
    let ending = instance(InstanceState::Running).terminate(EndReason::Owner, at(9)).unwrap();
    assert_eq!(told(&ending, ending.workshop_gone(at(9))), None, "its end was told when it was decided");
}

#[test]
fn launch_is_logged_with_its_owner_as_actor() {
    let line = Activity::of_launch(&instance(InstanceState::Queued));
    assert_eq!(line.act, Act { actor_email: Some(email("alice@example.org")), at: at(-10) });
    assert_eq!((line.action, line.detail), (ActivityAction::Launched, None));
}

#[test]
fn template_change_is_logged_with_field_names_only() {
    let admin = || email("admin@example.org");
    let before = Template {
        template_id: Uuid::from_u128(7),
        settings: settings(),
        active: true,
        version: 1,
        created_by: admin(),
        created_at: at(0),
        updated_at: at(0),
    };
    let mut after = Template { updated_at: at(5), ..before.clone() };
    after.settings.env.insert("TOKEN".to_owned(), "secret".to_owned());
    after.settings.name = "Renamed".to_owned();
    let line = Activity::of_template_change(&before, &after, admin());
    assert_eq!((line.action, line.detail.as_deref()), (ActivityAction::TemplateChanged, Some("name, env")));
    assert_eq!((line.subject, line.subject_name), (before.template_id.to_string(), "Renamed".to_owned()));
    assert_eq!((line.act, line.owner_email), (Act { actor_email: Some(admin()), at: at(5) }, None));

    let archived = Template { active: false, ..before.clone() };
    let line = Activity::of_template_change(&before, &archived, admin());
    assert_eq!((line.action, line.detail), (ActivityAction::TemplateArchived, None));
    assert_eq!(Activity::of_template_change(&archived, &before, admin()).action, ActivityAction::TemplateRestored);
}

#[test]
fn activity_actions_round_trip() {
    for action in ActivityAction::ALL {
        assert_eq!(ActivityAction::parse(action.as_str()), Some(action));
    }
    assert_eq!(ActivityAction::parse("Launched"), None);
}
