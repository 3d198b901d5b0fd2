//! Presentation of a template: tags, icon, color, unlisted, slug.

use launcher_domain::template::is_slug;
use launcher_domain::{Color, FieldError, FieldRule, Icon, Listing, TemplateContent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{read, template};

fn with(changes: &Value) -> Result<TemplateContent, Vec<FieldError>> {
    read(&json!({"name": "Maps", "app_type": "rstudio", "image": "r:4"}), changes)
}

fn errors(changes: &Value) -> Vec<String> {
    let errors = with(changes).unwrap_err();
    errors.into_iter().map(|error| format!("{} {}", error.pointer, error.rule.code())).collect()
}

#[test]
fn listing_of_minimal_template_is_empty() {
    assert_eq!(with(&json!({})).unwrap().listing, Listing::default());
}

#[test]
fn tags_are_trimmed_and_keep_their_order() {
    let eight: Vec<String> = (0..8).map(|number| format!("tag {number}")).collect();
    assert_eq!(with(&json!({ "tags": eight })).unwrap().listing.tags, eight);
    let tags = json!([" Karten ", "x".repeat(30), "ä".repeat(30)]);
    assert_eq!(with(&json!({ "tags": tags })).unwrap().listing.tags[0], "Karten");
}

#[test]
fn invalid_tags_are_reported_at_their_index() {
    let nine: Vec<String> = (0..9).map(|number| format!("tag {number}")).collect();
    for (tags, expected) in [
        (json!(nine), vec!["/tags tag-count"]),
        (json!(["a", " "]), vec!["/tags/1 tag"]),
        (json!(["x".repeat(31), "a\nb", "zero\u{200b}width"]), vec!["/tags/0 tag", "/tags/1 tag", "/tags/2 tag"]),
        (json!(["Maps", "x", " mAPS"]), vec!["/tags/2 tag-repeated"]),
        (json!(["Ärzte", "ärzte"]), vec!["/tags/1 tag-repeated"]),
    ] {
        assert_eq!(errors(&json!({ "tags": tags })), expected, "{tags}");
    }
}

#[test]
fn repeated_tag_is_named() {
    let errors = with(&json!({"tags": ["Maps", "maps"]})).unwrap_err();
    assert_eq!(errors[0].detail(), "the tag maps is given twice");
    assert_eq!(
        (errors[0].key().key.as_str(), errors[0].key().args["tag"].as_str()),
        ("field-rule-tag-repeated", "maps")
    );
}

#[test]
fn slug_has_letters_digits_and_inner_hyphens() {
    for slug in ["ab", "a-b", "101", "statistics-101", &"x".repeat(40)] {
        assert_eq!(with(&json!({ "slug": slug })).unwrap().listing.slug.as_deref(), Some(slug));
    }
    for slug in ["", "a", "-a", "a-", "A1", "a b", "a_b", "ä1", " ab", &"x".repeat(41)] {
        assert_eq!(errors(&json!({ "slug": slug })), ["/slug slug"], "{slug}");
    }
}

#[test]
fn listing_errors_are_reported_together_with_others() {
    assert_eq!(errors(&json!({"name": "", "tags": [""], "slug": "-"})), ["/name name", "/tags/0 tag", "/slug slug"]);
}

#[test]
fn icon_is_one_of_the_list_or_follows_the_app_type() {
    let choices = Icon::ALL.map(Icon::as_str).join(", ");
    let refused = with(&json!({"icon": "https://example.org/x.png"})).unwrap_err();
    assert_eq!(refused, [FieldError::new("/icon", FieldRule::Choice { choices })]);
    for (app_type, chosen, shown) in [
        ("rstudio", json!(null), Icon::Statistics),
        ("notebook", json!(null), Icon::Notebook),
        ("custom", json!(null), Icon::Web),
        ("rstudio", json!("globe"), Icon::Globe),
    ] {
        let content = with(&json!({"app_type": app_type, "icon": chosen, "port": 1})).unwrap();
        assert_eq!(template(content).icon(), shown);
    }
}

#[test]
fn color_is_one_of_the_list_or_none() {
    let choices = Color::ALL.map(Color::as_str).join(", ");
    let refused = with(&json!({"color": "#00f"})).unwrap_err();
    assert_eq!(refused, [FieldError::new("/color", FieldRule::Choice { choices })]);
    for (json, read) in [(json!(null), None), (json!("teal"), Some(Color::Teal))] {
        assert_eq!(with(&json!({"color": json})).unwrap().listing.color, read);
    }
}

proptest! {
    #[test]
    fn slug_needs_no_escape_in_a_path(text in "[a-z0-9-]{0,42}|\\PC{0,10}") {
        if is_slug(&text) {
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
            prop_assert!((2..=40).contains(&text.len()));
        }
    }
}
