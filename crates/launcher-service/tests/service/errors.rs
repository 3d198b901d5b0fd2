use launcher_service::{ErrorChain, ServiceError};
use launcher_testkit::eventually;

use crate::{World, measured};

#[derive(Debug, thiserror::Error)]
#[error("the lock is held")]
struct Locked;

#[test]
fn error_chain_includes_all_sources() {
    let error = ServiceError::Internal(Box::new(std::io::Error::other(Locked)));
    assert_eq!(ErrorChain(&error).to_string(), "internal error: the lock is held");
}

#[tokio::test]
async fn instance_metrics_are_absent_without_database() {
    let mut world = World::new().await;
    let is_counted = |world: &World| measured(&world.launcher).contains("launcher_instances{");
    eventually(async || is_counted(&world).then_some(())).await;
    world.stop().await;
    world.store.close().await;
    // The loops count the instances when they start. The database is closed, so the count fails, which clears the
    // metric.
    world.start();
    eventually(async || (!is_counted(&world)).then_some(())).await;
}
