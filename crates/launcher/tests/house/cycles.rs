//! No crate has an import cycle between folders: see [`Modules`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::modules::Modules;

/// Returns the import cycles of a crate that consists of these files.
fn cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files: BTreeMap<PathBuf, &str> = files.iter().map(|(file, text)| (PathBuf::from(file), *text)).collect();
    let modules = Modules::read(Path::new("src/lib.rs"), &|file| files.get(file).map(|text| (*text).to_owned()));
    let names = |cycle: BTreeSet<PathBuf>| cycle.into_iter().map(|unit| unit.display().to_string()).collect();
    modules.cycles().into_iter().map(names).collect()
}

#[test]
fn import_cycle_of_two_folders_is_found() {
    let files = [
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "mod inner;"),
        ("src/a/inner.rs", "use crate::b::B; pub struct A;"),
        ("src/b.rs", "mod inner; pub struct B;"),
        ("src/b/inner.rs", "fn b() { println!(\"{:?}\", crate::c::C) }"),
        ("src/c.rs", "use crate::a::inner::A; pub struct C;"),
    ];
    assert_eq!(cycles_of(&files), [["src/a", "src/b", "src/c"]]);
}

#[test]
fn import_cycle_through_reexport_is_found() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "mod inner; pub use inner::Inner;"),
        ("src/a/inner.rs", "use crate::b::B; pub struct Inner;"),
        ("src/b.rs", "mod inner; use crate::a::Inner; pub struct B(Inner);"),
        ("src/b/inner.rs", ""),
    ];
    assert_eq!(cycles_of(&files), [["src/a", "src/b"]]);
}

#[test]
fn import_cycles_of_files_and_of_a_folder_with_its_files_are_no_cycle_of_folders() {
    let files = [
        ("src/lib.rs", "mod parent; mod file; pub struct Root;"),
        ("src/parent.rs", "mod child; pub struct Shared; pub fn run() { child::run() }"),
        ("src/parent/child.rs", "use super::Shared; use crate::Root; use crate::file::File; pub fn run() {}"),
        ("src/file.rs", "use crate::parent::Shared; pub struct File;"),
    ];
    assert_eq!(cycles_of(&files), Vec::<Vec<String>>::new());
}

#[test]
fn imports_between_siblings_through_parent_are_no_cycle() {
    let files = [
        ("src/lib.rs", "mod parent;"),
        ("src/parent.rs", "mod one; mod two; use one::One; pub use two::Two;"),
        ("src/parent/one.rs", "pub struct One; #[cfg(test)] mod tests { use super::super::Two; }"),
        ("src/parent/two.rs", "use super::One; pub struct Two(One);"),
    ];
    assert_eq!(cycles_of(&files), Vec::<Vec<String>>::new());
}

#[test]
fn crates_have_no_import_cycles() {
    let mut found = Vec::new();
    let mut edges = 0;
    for package in crate::packages() {
        for target in package.targets.iter().filter(|target| target.is_lib() || target.is_bin()) {
            let root = target.src_path.as_std_path();
            let modules = Modules::read(root, &|file| std::fs::read_to_string(file).ok());
            let short = |unit: PathBuf| unit.strip_prefix(root.parent().unwrap()).unwrap().display().to_string();
            let cycles = modules.cycles();
            edges += modules.edges().values().map(BTreeSet::len).sum::<usize>();
            found.extend(cycles.into_iter().map(|cycle| {
                let units: Vec<String> = cycle.into_iter().map(short).collect();
                format!("{} {}: {}", package.name, target.name, units.join(", "))
            }));
        }
    }
    assert!(edges > 500, "only {edges} imports were found: the test does not read the crates");
    assert!(
        found.is_empty(),
        "these folders import each other; move what they share to a third file:\n{}",
        found.join("\n")
    );
}
