//! Plans of the statements for volumes and for secret parameters.

use launcher_domain::Scope;
use uuid::Uuid;

use super::{INSTANCE_ID, Planner, bob};
use crate::page::Page;
use crate::{claim, dispatch, observe, resume, volumes};

#[tokio::test]
async fn secret_parameters_are_found_by_their_instance() {
    let planner = Planner::new().await;
    planner.assert_uses(dispatch::SECRETS, INSTANCE_ID).await;
}

#[tokio::test]
async fn volumes_use_their_indexes() {
    let planner = Planner::new().await;
    planner.assert_uses(volumes::UNUSED, "volumes_unused").await;
    for sql in [volumes::ANNOUNCE, volumes::ANNOUNCE_FIRST, volumes::KEEP] {
        planner.assert_uses(sql, "volumes_kept").await;
    }
    // Sorts the few rows whose deletion is pending.
    let deleted = planner.plan(volumes::DELETED).await;
    assert!(deleted.iter().any(|step| step.contains("INDEX volumes_deleted")), "{deleted:#?}");
    planner.assert_uses(claim::USED_BY, "workshop_instances_volume").await;
    planner.assert_uses(claim::USED_BY_OTHER, "workshop_instances_volume").await;
    planner.assert_uses(resume::RESUME, "workshop_instances_feed").await;
    for sql in [volumes::TOUCH, observe::FORGOTTEN] {
        let plan = planner.plan(sql).await;
        assert!(!plan.iter().any(|step| step.starts_with("SCAN")), "{sql}: {plan:#?}");
    }
    let touch = planner.plan(volumes::TOUCH).await;
    assert!(touch.iter().any(|step| step.contains("INDEX workshop_instances_volume ")), "{touch:#?}");
    let owner = bob();
    for (scope, index) in
        [(Scope::Everyone, "sqlite_autoindex_volumes_1"), (Scope::Owner(&owner), "volumes_owner_list")]
    {
        let sql = volumes::list(scope, None, &Page { limit: 50, after: Some(Uuid::from_u128(1)) });
        let plan = planner.plan(sql.text()).await;
        let user = plan.iter().find(|step| step.contains(" used ")).unwrap();
        assert!(user.contains("USING INDEX workshop_instances_volume "), "{plan:#?}");
        assert!(plan.iter().any(|step| step.contains(index)), "expected {index}: {plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
    }
}
