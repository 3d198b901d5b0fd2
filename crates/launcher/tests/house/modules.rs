//! Imports between the folders of a crate. They have no cycles, so a reader can read each folder after the folders that it
//! uses.
//!
//! The folder `x` consists of `x.rs` and all files in `x/`, which may import each other. A file without a folder may import
//! the folders beside it, and they may import the file.
//!
//! A file uses another file if it names an item of that file: in a `use`, in an expression, in a type, or in the input
//! of a macro. A re-exported item belongs to the file that defines it. A parent that only declares `mod child;` does
//! not use the child. Code under `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// A module path from the root of the crate; the root is empty.
type ModulePath = Vec<String>;

#[derive(Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    definitions: BTreeSet<String>,
    /// Imported names, each with the full path of its item.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Every path in the code of this module.
    paths: Vec<Vec<String>>,
}

/// The modules of one crate, and the files that define them.
#[derive(Default)]
pub(crate) struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    /// Reads the crate whose root file is `root`. `read` returns the text of a file, or `None` if the file does not
    /// exist.
    ///
    /// # Panics
    /// If a file cannot be parsed, or a declared module has no file.
    pub(crate) fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut modules = Self::default();
        modules.add_file(Vec::new(), root.to_owned(), root.parent().unwrap(), read);
        modules
    }

    fn add_file(&mut self, path: ModulePath, file: PathBuf, folder: &Path, read: &dyn Fn(&Path) -> Option<String>) {
        let text = read(&file).unwrap_or_else(|| panic!("{} is missing", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add_items(path, &parsed.items, &file, folder, read);
    }

    fn add_items(
        &mut self,
        path: ModulePath,
        items: &[Item],
        file: &Path,
        folder: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let path: ModulePath = path.iter().cloned().chain([name.clone()]).collect();
                    let (inside, beside) = (folder.join(&name), folder.join(format!("{name}.rs")));
                    match &child.content {
                        Some((_, items)) => self.add_items(path, items, file, &inside, read),
                        None => self.add_file(path, beside, &inside, read),
                    }
                    module.children.insert(name);
                }
                Item::Use(import) => module.add_import(&mut Vec::new(), &import.tree),
                item => {
                    module.definitions.extend(name(item));
                    Paths(&mut module.paths).visit_item(item);
                }
            }
        }
        self.0.insert(path, module);
    }

    /// Returns the imports between files: the files that each file uses.
    pub(crate) fn edges(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut edges: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (path, module) in &self.0 {
            let used = edges.entry(&module.file).or_default();
            let imports = module.imports.values().chain(&module.globs);
            let files = imports.chain(&module.paths).filter_map(|named| self.defining_file(path, named, 0));
            used.extend(files.filter(|file| *file != module.file));
        }
        edges
    }

    /// Returns the file of this crate that defines the item `named`, as the module `from` would resolve that path.
    fn defining_file(&self, from: &[String], named: &[String], depth: usize) -> Option<&Path> {
        // Stop at imports that refer to each other in a circle: such a name is defined in another crate.
        if depth > 16 {
            return None;
        }
        let (mut at, mut rest) = (from.to_vec(), named);
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                _ => break,
            }
            rest = others;
        }
        let relative = rest.len() < named.len();
        let mut is_first = true;
        while let Some((name, others)) = rest.split_first() {
            let module = &self.0[&at];
            if module.children.contains(name) {
                at.push(name.clone());
            } else if module.definitions.contains(name) {
                return Some(&module.file);
            } else if let Some(target) = module.imports.get(name).filter(|target| *target != named) {
                let whole: Vec<String> = target.iter().chain(others).cloned().collect();
                return self.defining_file(&at, &whole, depth + 1);
            } else {
                let imported = module.globs.iter().find_map(|glob| {
                    let whole: Vec<String> = glob.iter().chain(rest).cloned().collect();
                    self.defining_file(&at, &whole, depth + 1)
                });
                // A first name that nothing here defines or imports is another crate or a generic parameter: no file of
                // this crate.
                return imported.or_else(|| (relative || !is_first).then_some(module.file.as_path()));
            }
            rest = others;
            is_first = false;
        }
        Some(&self.0[&at].file)
    }

    /// Returns the import cycles between folders with the same parent. Each set contains the folders of one cycle, and the
    /// files beside them through which they import each other.
    pub(crate) fn cycles(&self) -> BTreeSet<BTreeSet<PathBuf>> {
        let files: BTreeSet<&Path> = self.0.values().map(|module| module.file.as_path()).collect();
        let folders: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
        let is_folder = |unit: &&PathBuf| folders.contains(unit.as_path());
        let all = folders.iter().flat_map(|parent| self.cycles_in(parent));
        all.filter(|cycle| cycle.iter().filter(is_folder).count() > 1).collect()
    }

    /// Returns the import cycles between the files and folders in `parent`.
    fn cycles_in(&self, parent: &Path) -> BTreeSet<BTreeSet<PathBuf>> {
        let unit = |file: &Path| {
            let first = file.strip_prefix(parent).ok()?.components().next()?;
            Some(parent.join(first).with_extension("")).filter(|unit| !unit.ends_with("lib") && !unit.ends_with("main"))
        };
        let mut edges: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for (file, used) in self.edges() {
            let Some(from) = unit(file) else { continue };
            let used = used.into_iter().filter_map(unit).filter(|to| *to != from).collect::<BTreeSet<_>>();
            edges.entry(from).or_default().extend(used);
        }
        let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
            edges.keys().map(|unit| (unit, reachable(&edges, unit))).collect();
        let in_loops = reached.iter().filter(|(unit, reached)| reached.contains(*unit));
        in_loops
            .map(|(unit, units)| {
                units.iter().filter(|other| reached[*other].contains(unit)).map(|it| (*it).clone()).collect()
            })
            .collect()
    }
}

/// Returns the files and folders that `from` uses, directly or through others.
fn reachable<'units>(
    edges: &'units BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    from: &'units PathBuf,
) -> BTreeSet<&'units PathBuf> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(unit) = open.pop() {
        open.extend(edges[unit].iter().filter(|used| seen.insert(*used)));
    }
    seen
}

impl Module {
    fn add_import(&mut self, prefix: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_import(prefix, &path.tree);
                prefix.pop();
            }
            UseTree::Name(name) => self.add_name(prefix, &name.ident.to_string(), None),
            UseTree::Rename(name) => self.add_name(prefix, &name.ident.to_string(), Some(name.rename.to_string())),
            UseTree::Glob(_) => self.globs.push(prefix.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_import(prefix, tree)),
        }
    }

    fn add_name(&mut self, prefix: &[String], name: &str, renamed: Option<String>) {
        let mut path = prefix.to_vec();
        if name != "self" {
            path.push(name.to_owned());
        }
        let known_as = renamed.or_else(|| path.last().cloned());
        self.imports.extend(known_as.map(|known_as| (known_as, path)));
    }
}

/// Collects all paths in the visited code.
struct Paths<'paths>(&'paths mut Vec<Vec<String>>);

impl<'code> Visit<'code> for Paths<'_> {
    fn visit_path(&mut self, path: &'code syn::Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'code syn::Macro) {
        self.add_tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }

    /// Skips visibilities: the path in `pub(crate)` uses no item.
    fn visit_visibility(&mut self, _: &'code syn::Visibility) {}

    fn visit_attribute(&mut self, attribute: &'code Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
        }
    }
}

impl Paths<'_> {
    /// Adds a path of two or more names. A single name needs no entry, because its import already has the full path.
    fn add(&mut self, path: Vec<String>) {
        if path.len() > 1 {
            self.0.push(path);
        }
    }

    /// Adds each path `a::b` in the tokens of a macro call.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons): (Vec<String>, usize) = (Vec::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if colons == 2 => path.push(ident.to_string()),
                other => {
                    self.add(std::mem::take(&mut path));
                    match other {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                    }
                }
            }
            colons = 0;
        }
        self.add(path);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
