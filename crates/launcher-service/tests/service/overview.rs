//! Overview of the service for admins.

use std::time::Duration;

use launcher_domain::{FailureCode, InstanceState};
use launcher_service::{LaunchRequest, ServiceError};

use crate::{World, caller};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn overview_counts_live_instances_by_state() {
    let world = World::new().await;
    let (alice, bob, admin) = (caller("alice"), caller("bob"), caller("admin"));
    world.running(&alice).await;
    let failed = world.running(&bob).await.k8s_name;
    world.fleet.fail(&failed, FailureCode::Crashed, "");
    world.until(&failed, InstanceState::Failed).await;
    let ended = world.running(&admin).await.k8s_name;
    world.launcher.terminate(&admin, &ended).await.unwrap();
    world.until(&ended, InstanceState::Terminated).await;

    let overview = world.launcher.overview(&admin).await.unwrap();
    let counted: Vec<_> = overview.states.iter().filter(|(_, count)| *count > 0).copied().collect();
    assert_eq!(counted, [(InstanceState::Running, 1), (InstanceState::Failed, 1)]);
    let shown: Vec<_> = overview.states.iter().map(|(state, _)| *state).collect();
    assert!(!shown.contains(&InstanceState::Terminated) && shown.contains(&InstanceState::Queued), "{shown:?}");
    assert_eq!((overview.day.launches, overview.day.failures, overview.day.running), (3, 1, 1));
    let refused = world.launcher.overview(&alice).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Forbidden), "{refused}");
}

#[tokio::test]
async fn overview_lists_templates_launched_today_or_still_running() {
    let world = World::new().await;
    let (alice, bob, admin) = (caller("alice"), caller("bob"), caller("admin"));
    let still_running = world.running(&alice).await.template_id;
    let forgotten = world.running(&bob).await;
    world.launcher.terminate(&bob, &forgotten.k8s_name).await.unwrap();
    world.until(&forgotten.k8s_name, InstanceState::Terminated).await;
    world.clock.advance(DAY * 2);
    let launched = world.running(&bob).await;
    world.launcher.terminate(&bob, &launched.k8s_name).await.unwrap();
    world.until(&launched.k8s_name, InstanceState::Terminated).await;

    let templates = world.launcher.overview(&admin).await.unwrap().templates;
    let counts: Vec<_> = templates.iter().map(|(id, stats)| (*id, stats.launches, stats.running)).collect();
    assert_eq!(counts, [(launched.template_id, 1, 0), (still_running, 0, 1)]);
}

#[tokio::test]
async fn usual_start_is_the_median_of_earlier_launches() {
    let world = World::new().await;
    let (admin, template) = (caller("admin"), world.template().await.template_id);
    assert_eq!(world.launcher.usual_start(template).await.unwrap(), None);
    for seconds in [4, 90, 6] {
        let launched = world.launcher.launch(&admin, template, &LaunchRequest::default()).await.unwrap();
        let name = launched.listed.instance.k8s_name;
        world.workshop(&name).await;
        world.clock.advance(Duration::from_secs(seconds));
        world.fleet.ready(&name);
        world.until(&name, InstanceState::Running).await;
    }
    world.launcher.launch(&admin, template, &LaunchRequest::default()).await.unwrap();
    let usual = world.launcher.usual_start(template).await.unwrap().unwrap();
    assert_eq!(usual.as_secs(), 6);
}
