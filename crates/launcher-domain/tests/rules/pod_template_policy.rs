//! Tests of the policy of pod templates.

use launcher_domain::PodTemplateKind::{Label, Resource, Secret, Toleration};
use launcher_domain::{PodTemplateKind, PodTemplatePolicy};

fn policy(text: &str) -> PodTemplatePolicy {
    PodTemplatePolicy::parse(text).unwrap()
}

#[test]
fn entry_allows_exactly_its_name_or_its_prefix() {
    let policy = policy(" secret/course-token, label/example.org/*,,resource/nvidia.com/gpu ");
    for (kind, name, is_allowed) in [
        (Secret, "course-token", true),
        (Secret, "course-token-2", false),
        (Secret, "course-toke", false),
        (Secret, "", false),
        (Label, "example.org/team", true),
        (Label, "example.organisation", false),
        (Resource, "nvidia.com/gpu", true),
        (Resource, "course-token", false),
        (Toleration, "", false),
    ] {
        assert_eq!(policy.allows(kind, name), is_allowed, "{kind:?} {name:?}");
    }
}

#[test]
fn star_allows_every_name_of_its_kind_only() {
    let policy = policy("toleration/*");
    assert!(policy.allows(Toleration, "") && policy.allows(Toleration, "nvidia.com/gpu"));
    let others = PodTemplateKind::ALL.into_iter().filter(|kind| *kind != Toleration);
    others.for_each(|kind| assert!(!policy.allows(kind, "gpu"), "{kind:?}"));
}

#[test]
fn empty_policy_allows_nothing() {
    for text in ["", " ", ","] {
        assert!(PodTemplateKind::ALL.into_iter().all(|kind| !policy(text).allows(kind, "a")), "{text:?}");
    }
}

#[test]
fn default_policy_allows_no_secrets_tolerations_or_labels() {
    let allowed = PodTemplateKind::ALL.into_iter().filter(|kind| PodTemplatePolicy::default().allows(*kind, "a"));
    let texts: Vec<_> = allowed.map(PodTemplateKind::as_str).collect();
    assert_eq!(texts, ["configMap", "imagePullSecret", "persistentVolumeClaim", "resource"]);
    assert_eq!(PodTemplatePolicy::default(), policy(PodTemplatePolicy::DEFAULT));
}

#[test]
fn wrong_entry_is_named_with_the_kinds() {
    for wrong in ["secret", "secret/", "Secret/a", "hostPath/a", "/a", "secret/a b", "secret/*a", "secret/a**"] {
        let error = PodTemplatePolicy::parse(&format!("configMap/*,{wrong}")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{wrong:?} is not kind/name")), "{error}");
        assert!(error.contains("persistentVolumeClaim"), "{error}");
    }
}
