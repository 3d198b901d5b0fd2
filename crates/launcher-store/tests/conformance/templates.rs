//! Template catalog.

use launcher_domain::Template;
use launcher_store::Page;
use uuid::Uuid;

use crate::support::*;

fn ids(templates: &[Template]) -> Vec<u128> {
    templates.iter().map(|template| template.template_id.as_u128()).collect()
}

#[tokio::test]
async fn stored_template_is_read_back_unchanged() {
    on_every_engine(async |store| {
        let stored = template(2);
        assert!(store.create_template(&stored, None).await.unwrap());
        assert_eq!(store.template(None, stored.template_id).await.unwrap(), Some(stored.clone()));
        assert_eq!(store.template(None, Uuid::from_u128(404)).await.unwrap(), None);
        let another = Template { active: false, updated_at: at(5), ..stored.clone() };
        assert!(!store.create_template(&another, None).await.unwrap());
        assert_eq!(store.template(None, stored.template_id).await.unwrap(), Some(stored));
    })
    .await;
}

#[tokio::test]
async fn seed_does_not_overwrite_changed_template() {
    on_every_engine(async |store| {
        let seed = template(2);
        assert!(store.seed_template(&seed).await.unwrap());
        let archived = Template { active: false, version: 2, updated_at: at(5), ..seed.clone() };
        assert!(store.save_template(&seed, &archived, &admin(), None).await.unwrap());
        assert!(!store.seed_template(&seed).await.unwrap());
        assert_eq!(store.template(None, seed.template_id).await.unwrap(), Some(archived));
    })
    .await;
}

#[tokio::test]
async fn change_of_outdated_template_is_refused() {
    on_every_engine(async |store| {
        let mut second = template(1);
        second.version = 2;
        second.settings.name = "Renamed".to_owned();
        let saved = async |before: &Template| store.save_template(before, &second, &admin(), None).await.unwrap();
        assert!(saved(&template(1)).await);
        assert!(!saved(&template(1)).await);
        assert!(!saved(&Template { version: 3, ..second.clone() }).await);
        assert!(!saved(&template(404)).await);
        assert_eq!(store.template(None, second.template_id).await.unwrap(), Some(second));
    })
    .await;
}

#[tokio::test]
async fn template_list_is_scoped_sorted_and_paged() {
    on_every_engine(async |store| {
        // Later templates have smaller identifiers. The order must follow `created_at`, and the identifier only for
        // equal times.
        for (number, seconds, active) in [(9, 10, true), (8, 20, false), (6, 30, true), (7, 30, true)] {
            let created = Template { active, created_at: at(seconds), ..template(number) };
            store.create_template(&created, None).await.unwrap();
        }
        let all = store.templates(None, true, &EVERYTHING).await.unwrap();
        assert_eq!(ids(&all), [7, 6, 8, 9, 1]);
        assert_eq!(ids(&store.templates(None, false, &EVERYTHING).await.unwrap()), [7, 6, 9, 1]);

        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let page = store.templates(None, true, &Page { limit: 2, after }).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.template_id);
            paged.extend(page);
        }
        assert_eq!(paged, all);
    })
    .await;
}
