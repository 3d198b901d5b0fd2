//! Tags, icon, slug and visibility of templates.

use launcher_domain::{Caller, Listing, Template};
use launcher_store::{Page, Store, StoreError};
use sqlx::{AnyConnection, Connection};
use uuid::Uuid;

use crate::support::*;

fn with_slug(number: u128, slug: &str) -> Template {
    let mut template = template(number);
    template.listing.slug = Some(slug.to_owned());
    template
}

#[tokio::test]
async fn listing_is_read_back_and_replaced() {
    on_every_engine(async |store| {
        let tags = vec!["Statistik".to_owned(), "a \"b\" ü".to_owned()];
        let listing = Listing { tags, unlisted: true, slug: Some("maps".to_owned()), ..Listing::default() };
        let stored = Template { listing, ..template(2) };
        assert!(store.create_template(&stored, None).await.unwrap());
        assert_eq!(store.template(None, stored.template_id).await.unwrap(), Some(stored.clone()));
        let plain = Template { listing: template(2).listing, version: 2, ..stored.clone() };
        assert!(store.save_template(&stored, &plain, &admin(), None).await.unwrap());
        assert_eq!(store.template(None, stored.template_id).await.unwrap(), Some(plain));
        assert_eq!(store.template_by_slug("maps").await.unwrap(), None, "the slug is free");
    })
    .await;
}

#[tokio::test]
async fn template_is_found_by_its_exact_slug() {
    on_every_engine(async |store| {
        let archived = Template { active: false, ..with_slug(2, "maps") };
        store.create_template(&archived, None).await.unwrap();
        assert_eq!(store.template_by_slug("maps").await.unwrap(), Some(archived));
        for slug in ["", "map", "MAPS", "maps ", "maps\0", "%"] {
            assert_eq!(store.template_by_slug(slug).await.unwrap(), None, "{slug:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn slug_of_another_template_is_refused() {
    on_every_engine(async |store| {
        assert!(store.create_template(&with_slug(2, "maps"), None).await.unwrap());
        assert!(!store.create_template(&with_slug(2, "maps"), None).await.unwrap(), "the identifier exists");
        let is_taken = |error: StoreError| matches!(error, StoreError::SlugTaken { slug } if slug == "maps");
        assert!(is_taken(store.create_template(&with_slug(3, "maps"), None).await.unwrap_err()));
        assert!(is_taken(store.seed_template(&with_slug(3, "maps")).await.unwrap_err()));
        let renamed = Template { version: 2, ..with_slug(1, "maps") };
        assert!(is_taken(store.save_template(&template(1), &renamed, &admin(), None).await.unwrap_err()));
        assert_eq!(store.template(None, Uuid::from_u128(1)).await.unwrap(), Some(template(1)));
        assert_eq!(store.template(None, Uuid::from_u128(3)).await.unwrap(), None);
        let same = Template { version: 2, ..with_slug(2, "maps") };
        assert!(store.save_template(&with_slug(2, "maps"), &same, &admin(), None).await.unwrap(), "its own slug");
        // A seed that was created before stays as it is, even if another template has its slug now.
        assert!(!store.seed_template(&with_slug(1, "maps")).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn one_of_two_simultaneous_templates_gets_the_slug() {
    on_every_engine(async |store| {
        let create = |number| {
            let store = store.clone();
            tokio::spawn(async move { store.create_template(&with_slug(number, "maps"), None).await })
        };
        let attempts: Vec<_> = (2..10).map(create).collect();
        let mut created = 0;
        for attempt in attempts {
            match attempt.await.unwrap() {
                Ok(true) => created += 1,
                Err(StoreError::SlugTaken { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(created, 1);
        assert!(store.template_by_slug("maps").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn unlisted_templates_are_listed_for_admins_only() {
    on_every_engine(async |store| {
        for (number, unlisted, active) in [(2, true, true), (3, false, true), (4, true, false), (5, false, true)] {
            let mut template = Template { active, ..template(number) };
            template.listing.unlisted = unlisted;
            store.create_template(&template, None).await.unwrap();
        }
        let pages = async |caller: Caller| {
            let (mut ids, mut after) = (Vec::new(), None);
            loop {
                let page = store.templates(None, caller.is_admin(), &Page { limit: 1, after }).await.unwrap();
                let Some(last) = page.last() else { return ids };
                after = Some(last.template_id);
                ids.push(last.template_id.as_u128());
            }
        };
        assert_eq!(pages(bob()).await, [5, 3, 1]);
        assert_eq!(pages(admin()).await, [5, 4, 3, 2, 1]);
        assert!(store.template(None, Uuid::from_u128(2)).await.unwrap().is_some(), "readable by its identifier");
    })
    .await;
}

/// Templates from before a field was added have its default.
#[tokio::test]
async fn templates_of_an_earlier_version_have_an_empty_listing() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        let mut connection = AnyConnection::connect(&database.url).await.unwrap();
        let insert = "INSERT INTO workshop_templates (template_id, settings, active, version, created_by, created_at, \
                      updated_at) VALUES ($1, $2, 1, 1, 'root@example.org', $3, $3)";
        sqlx::query(insert)
            .bind(Uuid::from_u128(1).to_string())
            .bind(serde_json::to_string(&template(1).settings).unwrap())
            .bind(at(0).as_millisecond())
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        assert_eq!(store.template(None, Uuid::from_u128(1)).await.unwrap(), Some(template(1)));
        assert_eq!(store.templates(None, false, &EVERYTHING).await.unwrap().len(), 1);
        store.close().await;
    }
}
