//! No crate has an import cycle between folders. Files of one folder may import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::modules::Modules;

/// Returns the import cycles of a crate that consists of these files.
fn cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files: BTreeMap<PathBuf, &str> = files.iter().map(|(file, text)| (PathBuf::from(file), *text)).collect();
    let modules = Modules::read(Path::new("src/lib.rs"), &|file| files.get(file).map(|text| (*text).to_owned()));
    let names = |cycle: BTreeSet<&Path>| cycle.into_iter().map(|file| file.display().to_string()).collect();
    modules.cycles().into_iter().map(names).collect()
}

#[test]
fn import_cycle_of_two_modules_is_found() {
    let files = [
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "use crate::b::B; pub struct A;"),
        ("src/b.rs", "pub struct B; fn b() { println!(\"{:?}\", crate::a::A) }"),
        ("src/c.rs", "use crate::a::A; use crate::b::B;"),
    ];
    assert_eq!(cycles_of(&files), [["src/a.rs", "src/b.rs"]]);
}

#[test]
fn import_cycle_of_parent_and_child_is_found() {
    let files = [
        ("src/lib.rs", "mod parent;"),
        ("src/parent.rs", "mod child; pub struct Shared; pub fn run() { child::run() }"),
        ("src/parent/child.rs", "use super::Shared; pub fn run() {}"),
    ];
    assert_eq!(cycles_of(&files), [["src/parent/child.rs", "src/parent.rs"]]);
}

#[test]
fn import_cycle_through_reexport_is_found() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "mod inner; pub use inner::Inner;"),
        ("src/a/inner.rs", "use crate::b::B; pub struct Inner;"),
        ("src/b.rs", "use crate::a::Inner; pub struct B(Inner);"),
    ];
    assert_eq!(cycles_of(&files), [["src/a/inner.rs", "src/b.rs"]]);
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
            let short = |file: &Path| file.strip_prefix(root.parent().unwrap()).unwrap().display().to_string();
            let is_in_one_folder =
                |cycle: &BTreeSet<&Path>| cycle.iter().map(|file| file.parent()).collect::<BTreeSet<_>>().len() == 1;
            let cycles: Vec<_> = modules.cycles().into_iter().filter(|cycle| !is_in_one_folder(cycle)).collect();
            edges += modules.edges().values().map(BTreeSet::len).sum::<usize>();
            found.extend(cycles.iter().map(|cycle| {
                let files: Vec<String> = cycle.iter().map(|file| short(file)).collect();
                format!("{} {}: {}", package.name, target.name, files.join(", "))
            }));
        }
    }
    assert!(edges > 500, "only {edges} imports were found: the test does not read the crates");
    assert!(
        found.is_empty(),
        "these files of several folders import each other; move what they share to a third file:\n{}",
        found.join("\n")
    );
}
