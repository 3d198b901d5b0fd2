//! The house: which crate may lean on which. A new edge is a decision; this test makes it a visible one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// Every edge there is, in production code. Arrows point down: nothing here leads back up.
const EDGES: &[(&str, &[&str])] = &[
    (
        "launcher",
        &[
            "launcher-api",
            "launcher-domain",
            "launcher-fleet",
            "launcher-operator",
            "launcher-process",
            "launcher-service",
            "launcher-store",
            "launcher-trace",
            "launcher-workshop",
        ],
    ),
    ("launcher-api", &["launcher-domain", "launcher-service", "launcher-trace"]),
    ("launcher-domain", &[]),
    ("launcher-fleet", &["launcher-domain", "launcher-process", "launcher-sidecar", "launcher-workshop"]),
    ("launcher-operator", &["launcher-domain", "launcher-process", "launcher-trace", "launcher-workshop"]),
    ("launcher-process", &[]),
    (
        "launcher-service",
        &["launcher-domain", "launcher-fleet", "launcher-store", "launcher-trace", "launcher-workshop"],
    ),
    ("launcher-sidecar", &["launcher-domain", "launcher-process"]),
    ("launcher-store", &["launcher-domain"]),
    ("launcher-trace", &[]),
    ("launcher-workshop", &["launcher-domain"]),
];

/// What a crate must never link, and why.
const FORBIDDEN: &[(&str, &[&str])] = &[
    // The sidecar is in every pod: it stays small, and knows neither cluster nor database.
    ("launcher-sidecar", &["kube", "k8s-openapi", "sqlx", "axum"]),
    // The rules are pure.
    ("launcher-domain", &["tokio", "http", "hyper", "sqlx", "kube", "axum"]),
    // The operator never opens the database, and has no HTTP API.
    ("launcher-operator", &["sqlx", "axum"]),
    // Nobody but the store sees SQL.
    ("launcher-api", &["sqlx", "kube"]),
    ("launcher-service", &["sqlx", "axum", "http"]),
];

fn packages() -> Vec<Package> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap().packages
}

fn dependencies(package: &Package) -> impl Iterator<Item = &str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == DependencyKind::Normal)
        .map(|dependency| dependency.name.as_str())
}

#[test]
fn every_edge_is_on_the_list() {
    let packages = packages();
    let found: BTreeMap<String, Vec<String>> = packages
        .iter()
        .filter(|package| package.name.as_str() != "launcher-testkit")
        .map(|package| {
            let mut edges: Vec<String> =
                dependencies(package).filter(|name| name.starts_with("launcher")).map(str::to_owned).collect();
            edges.sort();
            (package.name.to_string(), edges)
        })
        .collect();
    let listed: BTreeMap<String, Vec<String>> = EDGES
        .iter()
        .map(|(name, edges)| ((*name).to_owned(), edges.iter().map(|edge| (*edge).to_owned()).collect()))
        .collect();
    assert_eq!(found, listed, "an edge between crates is new or gone: decide, and say so in ARCHITECTURE.md");
}

#[test]
fn nobody_links_what_is_not_for_them() {
    for package in packages() {
        for (name, forbidden) in FORBIDDEN.iter().filter(|(name, _)| *name == package.name.as_str()) {
            for dependency in dependencies(&package) {
                assert!(!forbidden.contains(&dependency), "{name} must not depend on {dependency}");
            }
        }
    }
}

#[test]
fn a_folder_is_named_like_its_crate_and_only_tests_use_the_testkit() {
    for package in packages() {
        let folder = package.manifest_path.parent().and_then(|path| path.file_name()).unwrap_or_default();
        assert_eq!(folder, package.name.as_str());
        assert!(dependencies(&package).all(|name| name != "launcher-testkit"), "{} ships the testkit", package.name);
    }
}
