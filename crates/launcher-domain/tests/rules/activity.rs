use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::lifetime::Bound;
use launcher_domain::quantity::Quantity;
use launcher_domain::{
    Act, Activity, ActivityAction, Color, EndReason, FailureCode, FailureReason, Icon, Instance, InstanceState,
    Material, Report, StartStep, Template, TemplateContent, TemplateSettings, Volume,
};
use uuid::Uuid;

use crate::{at, content, email, instance, seen};

fn material() -> Material {
    Material { directory: "/work".to_owned(), sources: Vec::new(), allowed_repositories: Vec::new() }
}

#[test]
fn deleted_volume_is_logged_with_its_owner_and_template() {
    let volume = Volume {
        volume_id: Uuid::nil(),
        name: "work-aaaaaaaaaa".to_owned(),
        owner_email: email("alice@example.org"),
        template_id: Some(Uuid::nil()),
        template_name: Some("Jupyter".to_owned()),
        namespace: None,
        size: "1Gi".to_owned(),
        created_at: at(0),
        last_used_at: at(0),
        kept_until: None,
    };
    let entry = Activity::of_volume(ActivityAction::VolumeDeleted, &volume, act(Some("admin@example.org")));
    assert_eq!(entry.action, ActivityAction::VolumeDeleted);
    assert_eq!((entry.subject.as_str(), entry.subject_name.as_str()), ("work-aaaaaaaaaa", "Jupyter"));
    assert_eq!((entry.owner_email, entry.detail), (Some(email("alice@example.org")), None));
}

fn act(who: Option<&str>) -> Act {
    Act { actor_email: who.map(email), at: at(50) }
}

/// Returns action and detail of the log entry for a change of an instance; `None` if the change is not logged.
fn logged_action(before: &Instance, after: Option<Instance>) -> Option<(ActivityAction, Option<String>)> {
    let line = Activity::of_change(before, &after.unwrap(), &act(None))?;
    assert_eq!((line.subject.as_str(), line.subject_name.as_str()), ("jupyter-aaaaaaaaaa", "Jupyter"));
    assert_eq!((line.owner_email, line.act), (Some(email("alice@example.org")), act(None)));
    Some((line.action, line.detail))
}

fn template(active: bool) -> Template {
    Template { template_id: Uuid::from_u128(7), ..crate::template(TemplateContent { active, ..content() }) }
}

#[test]
fn extension_end_failure_and_dismissal_are_logged() {
    use ActivityAction::{Dismissed, Ended, Extended, ExtendedBeyondMaximum, Failed, MaximumRaised};
    let because = |text: &str| Some(text.to_owned());
    let running = instance(InstanceState::Running);
    assert_eq!(
        logged_action(&running, running.extend(None, Bound::Maximum, at(0)).ok()),
        Some((Extended, because("1970-01-01T03:00:00.000Z")))
    );
    let at_maximum = Instance { expires_at: Some(at(8 * 3600)), ..running.clone() };
    assert_eq!(
        logged_action(&at_maximum, at_maximum.extend(None, Bound::Longest, at(0)).ok()),
        Some((ExtendedBeyondMaximum, because("1970-01-01T09:00:00.000Z 3600")))
    );
    assert_eq!(
        logged_action(&running, running.extend(None, Bound::Longest, at(0)).ok()),
        Some((Extended, because("1970-01-01T03:00:00.000Z"))),
        "within the maximum"
    );
    assert_eq!(logged_action(&running, running.raise_max_lifetime(36_000)), Some((MaximumRaised, because("36000"))));
    for state in [InstanceState::Queued, InstanceState::Starting, InstanceState::Running] {
        let before = instance(state);
        assert_eq!(
            logged_action(&before, before.terminate(EndReason::Admin, at(9))),
            Some((Ended, because("admin"))),
            "{state:?}"
        );
    }
    let expired = running.observe(&seen(ObservedPhase::Expired));
    assert_eq!(logged_action(&running, expired), Some((Ended, because("expired"))));
    assert_eq!(logged_action(&running, running.workshop_gone(at(9))), Some((Ended, because("lost"))));
    let crashed =
        ObservedPhase::Failed(FailureReason::new(FailureCode::Crashed, Some("It ended with status 3.".into())));
    let failed = running.observe(&seen(crashed));
    assert_eq!(logged_action(&running, failed.clone()), Some((Failed, because("crashed"))));
    let failed = failed.unwrap();
    assert_eq!(logged_action(&failed, failed.terminate(EndReason::Owner, at(9))), Some((Dismissed, None)));
}

#[test]
fn restart_is_logged_and_its_progress_is_not() {
    let outdated = Instance { outdated: true, ..instance(InstanceState::Running) };
    let restarted = outdated.restart(at(40)).unwrap();
    assert_eq!(logged_action(&outdated, Some(restarted.clone())), Some((ActivityAction::Restarted, None)));
    let seen = Observation { outdated: true, restarted_at: Some(at(40)), ..seen(ObservedPhase::Running) };
    assert_eq!(logged_action(&restarted, restarted.observe(&seen)), None);
}

#[test]
fn readiness_and_completed_termination_are_not_logged() {
    let starting = instance(InstanceState::Starting);
    assert_eq!(logged_action(&starting, starting.observe(&seen(ObservedPhase::Running))), None);
    let ending = instance(InstanceState::Running).terminate(EndReason::Owner, at(9)).unwrap();
    assert_eq!(logged_action(&ending, ending.workshop_gone(at(9))), None, "its end was logged when it was decided");
}

#[test]
fn launch_is_logged_with_its_owner_as_actor() {
    let launched = instance(InstanceState::Queued);
    let line = Activity::of_launch(&launched, &launched.owner_email);
    assert_eq!(line.act, Act { actor_email: Some(email("alice@example.org")), at: at(-10) });
    assert_eq!((line.action, line.detail), (ActivityAction::Launched, None));
}

#[test]
fn template_change_is_logged_with_field_names_only() {
    let admin = || email("admin@example.org");
    let before = template(true);
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

type Change = fn(&mut TemplateSettings);

/// Returns action and detail of the log entry for a change of a template's settings.
fn of_settings(change: Change) -> (ActivityAction, Option<String>) {
    let before = template(true);
    let mut after = before.clone();
    change(&mut after.settings);
    let line = Activity::of_template_change(&before, &after, email("admin@example.org"));
    (line.action, line.detail)
}

#[test]
fn each_changed_setting_is_named() {
    let changes: [(&str, Change); 4] = [
        ("name", |settings| settings.name.push('x')),
        ("port", |settings| settings.port += 1),
        ("resources", |settings| settings.resources.cpu_limit = Quantity::parse("3").unwrap()),
        ("material", |settings| settings.material = Some(material())),
    ];
    for (name, change) in changes {
        assert_eq!(of_settings(change), (ActivityAction::TemplateChanged, Some(name.to_owned())));
    }
    assert_eq!(of_settings(|_| {}), (ActivityAction::TemplateChanged, None));
}

#[test]
fn changed_listing_fields_are_named_after_settings() {
    let before = template(true);
    let changed = |change: fn(&mut Template)| {
        let mut after = before.clone();
        change(&mut after);
        Activity::of_template_change(&before, &after, email("admin@example.org")).detail.unwrap_or_default()
    };
    assert_eq!(changed(|after| after.listing.tags.push("maps".to_owned())), "tags");
    assert_eq!(changed(|after| after.listing.icon = Some(Icon::Globe)), "icon");
    assert_eq!(changed(|after| after.listing.color = Some(Color::Teal)), "color");
    assert_eq!(changed(|after| after.listing.unlisted = true), "unlisted");
    assert_eq!(changed(|after| after.listing.slug = Some("maps".to_owned())), "slug");
    let both = |after: &mut Template| (after.listing.unlisted, after.settings.port) = (true, 1);
    assert_eq!(changed(both), "port, unlisted");
}

#[test]
fn edit_of_archived_template_is_logged_as_change() {
    let before = template(false);
    let line = Activity::of_template_change(&before, &before, email("admin@example.org"));
    assert_eq!(line.action, ActivityAction::TemplateChanged);
}

#[test]
fn new_template_is_logged_with_creator_and_seeded_template_without_actor() {
    let created = template(true);
    for actor_email in [Some(email("admin@example.org")), None] {
        let line = Activity::of_new_template(&created, actor_email.clone());
        assert_eq!(line.act, Act { actor_email, at: at(0) });
        assert_eq!((line.action, line.detail), (ActivityAction::TemplateCreated, None));
        assert_eq!((line.subject, line.owner_email), (created.template_id.to_string(), None));
    }
}

#[test]
fn change_of_url_start_step_or_log_tail_is_not_logged() {
    let running = instance(InstanceState::Running);
    let starting = instance(InstanceState::Starting);
    let failed = instance(InstanceState::Failed);
    let terminating = instance(InstanceState::Terminating);
    for (before, after) in [
        (&running, Instance { report: Report::default(), ..running.clone() }),
        (&running, running.clone()),
        (
            &starting,
            Instance {
                report: Report { start_step: Some(StartStep::Preparing), ..Report::default() },
                ..starting.clone()
            },
        ),
        (
            &failed,
            Instance { report: Report { log_tail: Some("x".to_owned()), ..Report::default() }, ..failed.clone() },
        ),
        (&terminating, Instance { state: InstanceState::Failed, ..terminating.clone() }),
    ] {
        assert_eq!(logged_action(before, Some(after)), None, "{:?}", before.state);
    }
}
