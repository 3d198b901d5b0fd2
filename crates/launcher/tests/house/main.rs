//! Dependencies between the crates. A new edge is a decision, and this test makes it visible.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod cycles;
mod modules;

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// All dependencies between the crates, without those of tests. A new dependency also needs an entry here.
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
            "launcher-sidecar",
            "launcher-store",
            "launcher-trace",
            "launcher-workshop",
        ],
    ),
    ("launcher-api", &["launcher-domain", "launcher-process", "launcher-service", "launcher-trace"]),
    ("launcher-domain", &[]),
    ("launcher-fleet", &["launcher-domain", "launcher-process", "launcher-sidecar", "launcher-workshop"]),
    ("launcher-fuzz", &[]),
    ("launcher-material", &["launcher-domain"]),
    ("launcher-operator", &["launcher-domain", "launcher-process", "launcher-trace", "launcher-workshop"]),
    ("launcher-process", &[]),
    (
        "launcher-service",
        &[
            "launcher-domain",
            "launcher-fleet",
            "launcher-process",
            "launcher-snapshots",
            "launcher-store",
            "launcher-trace",
            "launcher-workshop",
        ],
    ),
    ("launcher-sidecar", &["launcher-domain", "launcher-process"]),
    ("launcher-snapshots", &[]),
    ("launcher-store", &["launcher-domain"]),
    ("launcher-trace", &[]),
    ("launcher-workshop", &["launcher-domain"]),
];

/// Packages that a crate must never contain, even through its dependencies, with the reason.
const NEVER: &[(&str, &[&str])] = &[
    // The sidecar runs in every pod: it stays small, and has no code for cluster or database.
    ("launcher-sidecar", &["kube", "k8s-openapi", "sqlx-core", "axum"]),
    // The program downloads material in every workshop: it is small, and has no code for cluster or database.
    ("launcher-material", &["kube", "k8s-openapi", "sqlx-core", "axum", "tokio"]),
    // Every process links this crate, also the small sidecar.
    ("launcher-process", &["kube", "k8s-openapi", "sqlx-core", "axum"]),
    // The domain rules do no I/O.
    ("launcher-domain", &["tokio", "http", "hyper", "sqlx-core", "kube", "axum"]),
    // The operator never opens the database, and has no HTTP API.
    ("launcher-operator", &["sqlx-core", "launcher-store", "axum"]),
    // The fleet adapters never open the database: only the service does.
    ("launcher-fleet", &["sqlx-core", "launcher-store", "axum"]),
    // Only the API crate renders pages and responses.
    ("launcher-service", &["axum"]),
    ("launcher-store", &["kube", "axum"]),
];

/// Packages that a crate must not import, although its dependencies link them.
const NOT_ITSELF: &[(&str, &[&str])] = &[
    // API and service leave SQL to the store, Kubernetes to the fleet, and HTTP to the API.
    ("launcher-api", &["sqlx", "kube"]),
    ("launcher-service", &["sqlx", "http"]),
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
fn dependencies_between_crates_match_list() {
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
    assert_eq!(
        found, listed,
        "the dependencies between the crates have changed: update EDGES in this file, and ARCHITECTURE.md"
    );
}

#[test]
fn crates_have_no_forbidden_direct_dependencies() {
    for package in packages() {
        for (name, forbidden) in NOT_ITSELF.iter().filter(|(name, _)| *name == package.name.as_str()) {
            for dependency in dependencies(&package) {
                assert!(!forbidden.contains(&dependency), "{name} must not depend on {dependency}");
            }
        }
    }
}

/// Returns this machine's target triple. Packages for other targets may be missing on this machine.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = std::process::Command::new(rustc).arg("-vV").output().unwrap().stdout;
    let told = String::from_utf8(told).unwrap();
    told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// Returns the packages that each package links in production code, by name, as cargo resolves them for this machine.
fn graph() -> BTreeMap<String, Vec<String>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let options = ["--locked".to_owned(), "--filter-platform".to_owned(), host()];
    let metadata = MetadataCommand::new().manifest_path(manifest).other_options(options).exec().unwrap();
    let names: BTreeMap<_, _> =
        metadata.packages.iter().map(|package| (&package.id, package.name.to_string())).collect();
    let mut graph: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in &metadata.resolve.as_ref().unwrap().nodes {
        let linked = node
            .deps
            .iter()
            .filter(|dependency| dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal));
        // Two versions of a package share one node of the graph.
        graph.entry(names[&node.id].clone()).or_default().extend(linked.map(|linked| names[&linked.pkg].clone()));
    }
    graph
}

#[test]
fn crates_have_no_forbidden_transitive_dependencies() {
    let graph = graph();
    for (name, forbidden) in NEVER {
        let (mut ways, mut open) = (BTreeMap::from([(*name, (*name).to_owned())]), vec![*name]);
        while let Some(package) = open.pop() {
            for dependency in &graph[package] {
                if !ways.contains_key(dependency.as_str()) {
                    ways.insert(dependency, format!("{} > {dependency}", ways[package]));
                    open.push(dependency);
                }
            }
        }
        for never in *forbidden {
            assert!(graph.contains_key(*never), "Cargo.lock has no package {never}: correct NEVER in this file");
            assert_eq!(ways.get(never), None, "{name} must not contain {never}");
        }
    }
}

#[test]
fn folder_matches_crate_name_and_testkit_is_not_shipped() {
    for package in packages() {
        let folder = package.manifest_path.parent().and_then(|path| path.file_name()).unwrap_or_default();
        assert_eq!(folder, package.name.as_str());
        assert!(dependencies(&package).all(|name| name != "launcher-testkit"), "{} ships the testkit", package.name);
    }
}
