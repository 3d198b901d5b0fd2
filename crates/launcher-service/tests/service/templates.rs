use launcher_domain::{EmailAddress, TemplateDraft};
use launcher_service::{LaunchRequest, Page, ServiceError, TemplateUpdate};
use uuid::Uuid;

use crate::{World, caller, draft};

const PAGE: Page = Page { limit: 10, after: None };

#[tokio::test]
async fn only_admins_write_the_catalog() {
    let world = World::new().await;
    let (alice, admin) = (caller("alice"), caller("admin"));
    let template = world.template().await;
    let id = template.template_id;
    let update = TemplateUpdate { draft: draft("Mine"), expected_version: None };
    for refused in [
        world.launcher.create_template(&alice, draft("Mine")).await.unwrap_err(),
        world.launcher.update_template(&alice, id, update).await.unwrap_err(),
        world.launcher.archive_template(&alice, id, None).await.unwrap_err(),
    ] {
        assert!(matches!(refused, ServiceError::Forbidden), "{refused}");
    }
    assert_eq!(world.launcher.template(&admin, id).await.unwrap(), template);
}

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
async fn update_with_outdated_template_version_is_refused() {
    let world = World::new().await;
    let admin = caller("admin");
    let id = world.template().await.template_id;
    let edit = |name: &str, expected_version| TemplateUpdate { draft: draft(name), expected_version };
    let edited = world.launcher.update_template(&admin, id, edit("Second", Some(1))).await.unwrap();
    assert_eq!(edited.version, 2);
    let refused = world.launcher.update_template(&admin, id, edit("Third", Some(1))).await.unwrap_err();
    assert!(matches!(refused, ServiceError::VersionMismatch), "{refused}");
    assert_eq!(world.launcher.template(&admin, id).await.unwrap().settings.name, "Second");
}

#[tokio::test]
async fn repeated_creation_returns_the_existing_template() {
    let world = World::new().await;
    let (admin, id) = (caller("admin"), world.launcher.draw_template_id());
    let first = world.launcher.create_template_once(&admin, id, draft("First")).await.unwrap();
    let again = world.launcher.create_template_once(&admin, id, draft("First")).await.unwrap();
    assert_eq!((again, first.template_id), (first.clone(), id));
    let other = world.launcher.create_template_once(&admin, id, draft("Other")).await.unwrap();
    assert_ne!(other.template_id, id, "a different template gets another identifier");
    assert_eq!(world.launcher.templates(&admin, &PAGE).await.unwrap().len(), 2);
}

#[tokio::test]
async fn seed_does_not_overwrite_changed_template() {
    let world = World::new().await;
    let (admin, by) = (caller("admin"), EmailAddress::parse("seed@launcher.invalid").unwrap());
    let id = Uuid::from_u128(7);
    assert!(world.launcher.seed_template(id, draft("Seed"), by.clone()).await.unwrap());
    let update = TemplateUpdate { draft: TemplateDraft { active: false, ..draft("Ours") }, expected_version: None };
    world.launcher.update_template(&admin, id, update).await.unwrap();
    assert!(!world.launcher.seed_template(id, draft("Seed"), by).await.unwrap());
    let template = world.launcher.template(&admin, id).await.unwrap();
    assert_eq!((template.settings.name.as_str(), template.active), ("Ours", false));
}

fn with_slug(name: &str, slug: &str) -> TemplateDraft {
    TemplateDraft { slug: Some(slug.to_owned()), ..draft(name) }
}

#[tokio::test]
async fn slug_of_another_template_is_a_field_error() {
    let world = World::new().await;
    let admin = caller("admin");
    let first = world.launcher.create_template(&admin, with_slug("First", "maps")).await.unwrap();
    let second = world.template().await;
    let update = TemplateUpdate { draft: with_slug("Second", "maps"), expected_version: None };
    for refused in [
        world.launcher.create_template(&admin, with_slug("Third", "maps")).await.unwrap_err(),
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
    let unlisted = TemplateDraft { unlisted: true, ..with_slug("Hidden", "hidden") };
    let id = world.launcher.create_template(&admin, unlisted).await.unwrap().template_id;
    assert!(world.launcher.templates(&alice, &PAGE).await.unwrap().is_empty());
    assert_eq!(world.launcher.templates(&admin, &PAGE).await.unwrap().len(), 1);
    assert_eq!(world.launcher.template_by_slug(&alice, "hidden").await.unwrap().template_id, id);
    assert!(world.launcher.template(&alice, id).await.is_ok());
    world.launcher.launch(&alice, id, &LaunchRequest::default()).await.unwrap();
}
