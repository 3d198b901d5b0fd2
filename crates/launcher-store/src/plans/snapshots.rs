//! Plans of the statements for snapshots.

use launcher_domain::Scope;
use uuid::Uuid;

use super::{Planner, bob};
use crate::page::Page;
use crate::snapshots;

#[tokio::test]
async fn snapshots_use_their_indexes() {
    let planner = Planner::new().await;
    planner.assert_uses(snapshots::ENDING, "workshop_instances_snapshot").await;
    planner.assert_uses(snapshots::OVERDUE, "workshop_instances_snapshot").await;
    planner.assert_uses(snapshots::HELD, "snapshots_owner").await;
    planner.assert_uses(snapshots::OLD, "snapshots_old").await;
    planner.assert_uses(snapshots::ANNOUNCE, "snapshots_kept").await;
    // Sorts the few rows whose deletion is pending.
    let deleted = planner.plan(snapshots::DELETED).await;
    assert!(deleted.iter().any(|step| step.contains("INDEX snapshots_deleted")), "{deleted:#?}");
    let owner = bob();
    for (scope, index) in [(Scope::Everyone, "sqlite_autoindex_snapshots_1"), (Scope::Owner(&owner), "snapshots_owner")]
    {
        let sql = snapshots::list(scope, None, &Page { limit: 50, after: Some(Uuid::from_u128(1)) });
        let plan = planner.plan(sql.text()).await;
        assert!(plan.iter().any(|step| step.contains(index)), "expected {index}: {plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
    }
}
