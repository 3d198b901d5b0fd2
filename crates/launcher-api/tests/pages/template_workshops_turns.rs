//! The table of a class with more workshops than one page shows.

use launcher_domain::{AdminList, EmailAddress};
use launcher_service::LaunchRequest;
use launcher_testkit::Options;

use crate::support::{ADMIN, App, Browser, borrowed, unescape};

/// Number of rows on one page.
const ROWS: usize = 200;

/// Starts an application, and launches a workshop for each of `count` people. Returns the path of the class.
async fn class_of(count: usize) -> (App, Browser, String) {
    let app = App::with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template("Penguins", |_| {}).await;
    for number in 0..count {
        let email = EmailAddress::parse(&format!("student{number:03}@example.org")).unwrap();
        let caller = AdminList::parse("").unwrap().caller(email);
        app.test.launcher.launch(&caller, template.parse().unwrap(), &LaunchRequest::default()).await.unwrap();
    }
    let admin = app.browser(ADMIN);
    (app, admin, format!("/admin/templates/{template}/workshops"))
}

/// Returns the owners in the table, from top to bottom.
fn owners(page: &str) -> Vec<String> {
    let cells = page.split("<th scope=\"row\" class=\"cell-owner\" title=\"").skip(1);
    cells.map(|cell| cell.split('"').next().unwrap().to_owned()).collect()
}

fn students(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| format!("student{number:03}@example.org")).collect()
}

/// Returns the address of the link or of the form with this label.
fn button(page: &str, label: &str) -> Option<String> {
    let end = page.find(&format!(">{label}</"))?;
    let start = [page[..end].rfind("href=\""), page[..end].rfind("action=\"")].into_iter().flatten().max()?;
    page[start..].split('"').nth(1).map(unescape)
}

/// Returns the sum of the numbers on the tiles.
fn total(page: &str) -> u64 {
    let numbers = page.split("class=\"figure\">").skip(1);
    numbers.map(|part| part.split('<').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn large_class_is_shown_on_several_pages_sorted_by_owner() {
    let (app, admin, path) = class_of(ROWS + 3).await;
    let first = admin.get(&path).await.body;
    assert_eq!(owners(&first), students(0..ROWS));
    assert!(first.contains("This page shows 200 of 203 workshops."), "{first}");
    assert_eq!((total(&first), button(&first, "First page")), (203, None));

    let next = button(&first, "More").unwrap();
    let second = admin.get(&next).await;
    assert_eq!(owners(&second.body), students(ROWS..ROWS + 3));
    assert!(second.body.contains("This page shows 3 of 203 workshops."), "{}", second.body);
    assert_eq!((total(&second.body), button(&second.body, "More")), (203, None));
    assert_eq!(button(&second.body, "First page").as_ref(), Some(&path));
    let update = second.body.split("hx-get=\"").nth(1).unwrap().split('"').next().map(unescape);
    assert_eq!(update.as_ref(), Some(&next), "the page updates its own part of the table");
    let bulk = second.form("/admin/instances/bulk");
    assert!(bulk.contains(&("return_to".to_owned(), next)), "{bulk:?}");

    let unreadable = admin.get(&format!("{path}?after=x")).await.body;
    assert_eq!(owners(&unreadable), students(0..ROWS));
    app.finish().await;
}

#[tokio::test]
async fn comparison_with_a_list_stays_on_each_page_of_the_table() {
    let (app, admin, path) = class_of(ROWS + 1).await;
    let list = [("addresses", "carol@example.org; student001@example.org, x")];
    let first = admin.post(&path, &list).await;
    assert_eq!(owners(&first.body), students(0..ROWS));
    let next = button(&first.body, "More").unwrap();
    let form = first.form(&next);
    let second = admin.post(&next, &borrowed(&form)).await;
    assert_eq!(owners(&second.body), students(ROWS..ROWS + 1));
    let (_, compared) = second.body.split_once("<div class=\"standings\">").unwrap();
    assert!(compared.contains("carol@example.org") && compared.contains("student001@example.org"), "{compared}");
    let update = second.body.split("hx-post=\"").nth(1).unwrap().split('"').next().map(unescape);
    assert_eq!(update, Some(next), "the page updates its own part of the table");
    let back = admin.post(&button(&second.body, "First page").unwrap(), &borrowed(&form)).await;
    assert_eq!(owners(&back.body), students(0..ROWS));
    app.finish().await;
}

#[tokio::test]
async fn page_after_the_last_workshop_leads_to_the_first_page() {
    let (app, admin, path) = class_of(1).await;
    let whole = admin.get(&path).await.body;
    assert_eq!((owners(&whole), button(&whole, "More")), (students(0..1), None));
    assert!(!whole.contains("This page shows"), "{whole}");
    let after_all = format!("{path}?after=00000000-0000-7000-8000-000000000000+tz%40example.org");
    let page = admin.get(&after_all).await.body;
    assert!(owners(&page).is_empty() && page.contains("This page shows 0 of 1 workshops."), "{page}");
    assert!(!page.contains("There are no workshops of this template now."), "{page}");
    assert_eq!(button(&page, "First page"), Some(path));
    app.finish().await;
}
