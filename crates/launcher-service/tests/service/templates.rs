use launcher_domain::JsonObject;
use launcher_service::{LaunchRequest, Page, ServiceError, TemplateUpdate};
use serde_json::json;

use crate::{World, body, caller, with};

const PAGE: Page = Page { limit: 10, after: None };

#[tokio::test]
async fn archived_template_leaves_the_catalog_but_stays_readable() {
    let world = World::new().await;
    let (alice, admin) = (caller("alice"), caller("admin"));
    let id = world.template().await.template_id;
    world.launcher.archive_template(&admin, id, None).await.unwrap();
    let again = world.launcher.archive_template(&admin, id, None).await.unwrap();
    assert_eq!((again.active, again.version), (false, 2), "archiving twice is archiving once");
    assert!(world.launcher.templates(&alice, &PAGE).await.unwrap().is_empty());
    assert_eq!(world.launcher.templates(&admin, &PAGE).await.unwrap().len(), 1);
    assert!(world.launcher.template(&alice, id).await.is_ok());
}

#[tokio::test]
async fn repeated_creation_returns_the_existing_template() {
    let world = World::new().await;
    let (admin, id) = (caller("admin"), world.launcher.draw_id());
    let first = world.launcher.create_template_once(&admin, id, &body("First")).await.unwrap();
    let again = world.launcher.create_template_once(&admin, id, &body("First")).await.unwrap();
    assert_eq!((again, first.template_id), (first.clone(), id));
    let other = world.launcher.create_template_once(&admin, id, &body("Other")).await.unwrap();
    assert_ne!(other.template_id, id, "a different template gets another identifier");
    assert_eq!(world.launcher.templates(&admin, &PAGE).await.unwrap().len(), 2);
}

fn with_slug(name: &str, slug: &str) -> JsonObject {
    with(body(name), &json!({ "slug": slug }))
}

#[tokio::test]
async fn slug_of_another_template_is_a_field_error() {
    let world = World::new().await;
    let admin = caller("admin");
    let first = world.launcher.create_template(&admin, &with_slug("First", "maps")).await.unwrap();
    let second = world.template().await;
    let update = TemplateUpdate { body: with_slug("Second", "maps"), expected_version: None };
    for refused in [
        world.launcher.create_template(&admin, &with_slug("Third", "maps")).await.unwrap_err(),
        world.launcher.update_template(&admin, second.template_id, update).await.unwrap_err(),
    ] {
        let ServiceError::Invalid(errors) = refused else { panic!("{refused}") };
        assert_eq!(errors[0].pointer, "/slug");
        assert_eq!(errors[0].detail(), "another template has the slug maps; choose another one");
    }
    let alice = caller("alice");
    assert_eq!(world.launcher.template_by_slug(&alice, "maps").await.unwrap(), first);
    for slug in ["", "map", "MAPS", "maps\0"] {
        assert!(matches!(world.launcher.template_by_slug(&alice, slug).await, Err(ServiceError::NotFound)));
    }
}

#[tokio::test]
async fn unlisted_template_is_launched_by_its_identifier() {
    let world = World::new().await;
    let (alice, admin) = (caller("alice"), caller("admin"));
    let unlisted = with(with_slug("Hidden", "hidden"), &json!({ "unlisted": true }));
    let id = world.launcher.create_template(&admin, &unlisted).await.unwrap().template_id;
    assert!(world.launcher.templates(&alice, &PAGE).await.unwrap().is_empty());
    assert_eq!(world.launcher.templates(&admin, &PAGE).await.unwrap().len(), 1);
    assert_eq!(world.launcher.template_by_slug(&alice, "hidden").await.unwrap().template_id, id);
    assert!(world.launcher.template(&alice, id).await.is_ok());
    world.launcher.launch(&alice, id, &LaunchRequest::default()).await.unwrap();
}
