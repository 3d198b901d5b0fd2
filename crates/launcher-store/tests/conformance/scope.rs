//! Tests of scopes: an instance outside the caller's scope is treated as missing.

use launcher_domain::Scope;
use launcher_store::InstanceFilter;

use crate::support::*;

#[tokio::test]
async fn instance_is_visible_to_owner_and_admins_only() {
    on_every_engine(async |store| {
        let hers = launched(&store, "alice@example.org").await;

        assert_eq!(store.instance(&bob(), &hers.k8s_name).await.unwrap(), None);
        assert_eq!(store.instance(&alice(), &hers.k8s_name).await.unwrap().unwrap().instance, hers);
        assert_eq!(store.instance(&admin(), &hers.k8s_name).await.unwrap().unwrap().instance, hers);
        assert_eq!(store.instance(&admin(), "no-such-name").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn list_is_limited_to_the_scope() {
    on_every_engine(async |store| {
        let hers = launched(&store, "alice@example.org").await;
        let his = launched(&store, "bob@example.org").await;
        let list = async |caller, owner: Option<&str>| {
            let filter = InstanceFilter { owner_email: owner.map(email), ..InstanceFilter::default() };
            let listed = store.instances(&caller, &filter, &EVERYTHING).await.unwrap();
            listed.into_iter().map(|listed| listed.instance.k8s_name).collect::<Vec<_>>()
        };

        assert_eq!(list(bob(), None).await, [his.k8s_name.as_str()]);
        assert_eq!(list(admin(), None).await, [his.k8s_name.as_str(), &hers.k8s_name]);
        assert_eq!(list(admin(), Some("alice@example.org")).await, [hers.k8s_name.as_str()]);
        assert!(list(bob(), Some("alice@example.org")).await.is_empty(), "a filter widens no scope");
    })
    .await;
}

#[tokio::test]
async fn feed_is_limited_to_the_scope() {
    on_every_engine(async |store| {
        let hers = launched(&store, "alice@example.org").await;
        let his = launched(&store, "bob@example.org").await;
        let bob = email("bob@example.org");

        let feed = store.feed_since(Scope::Owner(&bob), 0, 100).await.unwrap().listed;
        assert_eq!(names(feed.iter().map(|listed| &listed.instance)), [&his.k8s_name]);
        assert_eq!(feed[0].queue_position, Some(2), "the place is the one in everybody's queue");
        let everyone = store.feed_since(Scope::Everyone, 0, 100).await.unwrap().listed;
        assert_eq!(names(everyone.iter().map(|listed| &listed.instance)), [&hers.k8s_name, &his.k8s_name]);
    })
    .await;
}
