use std::collections::HashSet;

use launcher_domain::names::{earliest_uuid, is_k8s_name, k8s_name, uuid_v7};
use proptest::prelude::*;

use crate::{Counter, FixedClock, at};

#[test]
fn instance_name_is_slug_and_ten_unambiguous_characters() {
    let name = k8s_name("  R für Einsteiger (2026)! ", &Counter::default());
    let (slug, random) = name.rsplit_once('-').unwrap();
    assert_eq!(slug, "r-f-r-einsteiger-202");
    assert_eq!(random.len(), 10);
    assert!(!random.contains(['0', '1', 'l', 'o']));
    for name in ["", "123", "機械学習", "--"] {
        let drawn = k8s_name(name, &Counter::default());
        assert!(drawn.starts_with("workshop-"), "{name:?} gives {drawn}");
    }
}

#[test]
fn identifiers_sort_by_time() {
    let entropy = Counter::default();
    let earlier = uuid_v7(&FixedClock(at(1_000)), &entropy);
    let later = uuid_v7(&FixedClock(at(1_001)), &entropy);
    assert!(earlier.to_string() < later.to_string());
    assert_eq!(earlier.get_version_num(), 7);
    let between = earliest_uuid(at(1_001)).to_string();
    assert!(earlier.to_string() < between && between <= later.to_string());
}

#[test]
fn ten_thousand_names_are_distinct() {
    let entropy = launcher_domain::clock::SystemEntropy;
    let names: HashSet<String> = (0..10_000).map(|_| k8s_name("x", &entropy)).collect();
    assert_eq!(names.len(), 10_000);
}

proptest! {
    #[test]
    fn instance_name_is_always_a_dns_label(template in "\\PC{0,100}", seed: u8) {
        let name = k8s_name(&template, &Counter(seed.into()));
        prop_assert!(is_k8s_name(&name), "{}", name);
        prop_assert!(name.len() <= 31);
    }
}

#[test]
fn invalid_k8s_name_is_detected() {
    for text in ["", "Abc", "a_b", "-a", "a-", "1a", "a/b", "a b", &"a".repeat(64)] {
        assert!(!is_k8s_name(text), "{text:?}");
    }
}

#[test]
fn valid_k8s_name_is_accepted() {
    for text in ["a", "a1", "a-b", "a--b", &"a".repeat(63)] {
        assert!(is_k8s_name(text), "{text:?}");
    }
}

#[test]
fn slug_is_cut_at_20_characters_without_trailing_dash() {
    for (template, slug) in [
        ("abcdefghijklmnopqrst", "abcdefghijklmnopqrst"),
        ("abcdefghijklmnopqrstu", "abcdefghijklmnopqrst"),
        ("abcdefghijklmnopqrs tuv", "abcdefghijklmnopqrs"),
        ("4R  &  Stats 101", "r-stats-101"),
        ("-R-", "r"),
    ] {
        let name = k8s_name(template, &Counter::default());
        assert_eq!(name.rsplit_once('-').unwrap().0, slug, "{template}");
    }
}

#[test]
fn random_part_of_name_uses_five_bits_of_each_byte() {
    let first = k8s_name("x", &Counter::default());
    assert_eq!(first, "x-abcdefghij");
    assert_eq!(k8s_name("x", &Counter(32.into())), first, "only the lower five bits count");
    assert_eq!(k8s_name("x", &Counter(22.into())), "x-yz23456789");
}

#[test]
fn earliest_identifier_before_the_epoch_is_nil() {
    assert!(earliest_uuid(at(-1)).is_nil());
    assert!(earliest_uuid(at(0)).is_nil());
    assert_eq!(earliest_uuid(at(1)).as_u128(), 1000 << 80);
    let early = uuid_v7(&FixedClock(at(-1)), &Counter::default());
    assert_eq!(early.as_u128() >> 80, 0);
}
