//! Random changes of teacher and student: no line of a student is lost, and every conflict is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use launcher_material::content::{Content, FileEntry, Manifest, Receive};
use launcher_material::directory::Dir;
use launcher_material::failure::Failure;
use launcher_material::merge::state::Store;
use launcher_material::merge::{Merged, Version, merge};
use launcher_material::meter::Meter;
use launcher_material::{Limits, content};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::{list, memory_directory};

/// Few paths, so that changes meet. Some are below others.
const PATHS: [&str; 9] = ["a", "a/b", "a/b/c", "d.txt", "d.txt/e", "f/g.ipynb", "f/h", "i", "j/k/l"];

type Files = BTreeMap<String, String>;

/// Version of a teacher, in memory.
struct Lesson {
    manifest: Manifest,
    files: Files,
    /// Number of files after which the content cannot be read.
    breaks_after: Option<usize>,
}

impl Lesson {
    /// Takes the files that can exist together: a file below another one is left out.
    fn new(choices: &[(usize, u8)]) -> Self {
        let mut files = Files::new();
        for (index, number) in choices {
            let path = PATHS[*index];
            if !files.keys().any(|other| other != path && meets(path, other)) {
                files.insert(path.to_owned(), format!("teacher {number}\n"));
            }
        }
        let mut manifest = Manifest::default();
        for (path, text) in &files {
            let (sha256, size) = content::digest(&mut text.as_bytes()).unwrap();
            let file = FileEntry { sha256, size, is_executable: false, position: 0 };
            manifest.add(path.clone(), file, &Limits::default()).unwrap();
        }
        Self { manifest, files, breaks_after: None }
    }
}

impl Content for Lesson {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn read(&mut self, wanted: &dyn Fn(&str) -> bool, receive: &mut Receive<'_>) -> Result<(), Failure> {
        for (index, (path, text)) in self.files.iter().filter(|(path, _)| wanted(path)).enumerate() {
            if self.breaks_after == Some(index) {
                return Err(Failure::new("broken"));
            }
            let mut bytes = text.as_bytes();
            let reader: &mut dyn Read = &mut bytes;
            receive(path, &self.manifest.files()[path], reader)?;
        }
        Ok(())
    }
}

fn below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// True if two paths are equal, or one is below the other.
fn meets(path: &str, other: &str) -> bool {
    path == other || below(path, other) || below(other, path)
}

/// Change of a student.
#[derive(Debug, Clone)]
enum Edit {
    Write(usize, u8),
    Append(usize, u8),
    Delete(usize),
    /// Replaces the file or directory at this path by a directory with one file.
    Directory(usize, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let path = || 0..PATHS.len();
    prop_oneof![
        // Small numbers, so that a student sometimes writes what the teacher wrote.
        (path(), 0_u8..9).prop_map(|(path, number)| Edit::Write(path, number)),
        (path(), 0_u8..9).prop_map(|(path, number)| Edit::Append(path, number)),
        path().prop_map(Edit::Delete),
        (path(), 0_u8..9).prop_map(|(path, number)| Edit::Directory(path, number)),
    ]
}

fn edited_path(edit: &Edit) -> &'static str {
    match *edit {
        Edit::Write(index, _) | Edit::Append(index, _) | Edit::Delete(index) | Edit::Directory(index, _) => {
            PATHS[index]
        }
    }
}

fn apply(root: &Path, edit: &Edit) {
    let remove = |path: &Path| drop(fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)));
    let write = |path: &Path, text: String| {
        if fs::create_dir_all(path.parent().unwrap()).is_ok() {
            let _ = fs::write(path, text);
        }
    };
    match *edit {
        Edit::Write(index, number) if number < 4 => write(&root.join(PATHS[index]), format!("teacher {number}\n")),
        Edit::Write(index, number) => write(&root.join(PATHS[index]), format!("student {number}\n")),
        Edit::Append(index, number) => {
            let path = root.join(PATHS[index]);
            let text = fs::read_to_string(&path).unwrap_or_default();
            write(&path, format!("{text}student {number}\n"));
        }
        Edit::Delete(index) => remove(&root.join(PATHS[index])),
        Edit::Directory(index, number) => {
            remove(&root.join(PATHS[index]));
            write(&root.join(PATHS[index]).join("own"), format!("student {number}\n"));
        }
    }
}

fn files(root: &Path) -> Files {
    let mut files = Files::new();
    list(root, "", &mut files);
    files
}

fn run(directory: &TempDir, version: &str, lesson: &mut dyn Content) -> Merged {
    attempt(directory, version, lesson).unwrap()
}

fn attempt(directory: &TempDir, version: &str, lesson: &mut dyn Content) -> Result<Merged, Failure> {
    let root = Dir::open(directory.path()).unwrap();
    let store = Store::open(&root, "course", None, &Limits::default()).unwrap();
    let version = Version { id: version, folder: None };
    merge(&root, &store, version, lesson, &Limits::default(), &Meter::default())
}

/// The conflicts and the files of the student after a merge, as the rules define them.
fn expected(before: &Files, directories: &BTreeSet<String>, old: &Files, new: &Files) -> (Files, Vec<String>) {
    let mut after = before.clone();
    after.retain(|path, text| new.contains_key(path) || old.get(path) != Some(text));
    // A directory goes only with the last of the teacher's files in it.
    let removed: Vec<&String> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    let is_directory = |after: &Files, path: &str| {
        after.keys().any(|file| below(file, path))
            || (directories.contains(path) && !removed.iter().any(|file| below(file, path)))
    };
    let rest = after.clone();
    let mut conflicts = Vec::new();
    for (path, text) in new.iter().filter(|(path, text)| old.get(*path) != Some(text)) {
        let is_blocked_above = rest.keys().any(|file| below(path, file));
        match rest.get(path) {
            Some(found) if found == text || Some(found) == old.get(path) => {
                after.insert(path.clone(), text.clone());
            }
            Some(_) => conflicts.push(path.clone()),
            None if is_directory(&rest, path) => conflicts.push(path.clone()),
            None if old.contains_key(path) => {}
            None if is_blocked_above => conflicts.push(path.clone()),
            None => {
                after.insert(path.clone(), text.clone());
            }
        }
    }
    (after, conflicts)
}

fn directories(root: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        directories(&entry.path(), &format!("{path}/"), found);
        found.insert(path);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_of_a_student_is_lost_and_every_conflict_is_reported(
        lessons in vec(vec((0..PATHS.len(), 0_u8..4), 1..7), 2..4),
        edits in vec(vec(edit(), 0..6), 3),
    ) {
        let directory = memory_directory();
        let root = directory.path().join("course");
        let mut old = Files::new();
        for (index, choices) in lessons.iter().enumerate() {
            let mut lesson = Lesson::new(choices);
            let new = lesson.files.clone();
            let before = files(&root);
            let mut named = BTreeSet::new();
            directories(&root, "", &mut named);
            let version = format!("version{index}");
            let merged = run(&directory, &version, &mut lesson);
            let (after, conflicts) = expected(&before, &named, &old, &new);
            prop_assert_eq!(&merged.conflicts, &conflicts);
            let found = files(&root);
            let own: Files = found.iter().filter(|(path, _)| !is_new_beside(path, &before)).map(owned).collect();
            prop_assert_eq!(&own, &after, "before {:?}, old {:?}, new {:?}", before, old, new);
            for path in &conflicts {
                let placed = found.iter().any(|(beside, text)| beside.contains("from teacher") && text == &new[path]);
                prop_assert!(placed, "the teacher's {} is missing in {:?}", path, found);
            }
            let again = run(&directory, &version, &mut lesson);
            prop_assert_eq!(again, Merged::default());
            prop_assert_eq!(&files(&root), &found);
            edits[index].iter().for_each(|edit| apply(&root, edit));
            old = new;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn interrupted_merges_lose_no_line_and_the_next_one_completes(
        lessons in vec((vec((0..PATHS.len(), 0_u8..4), 1..7), proptest::option::of(0_usize..5)), 2..6),
        edits in vec(vec(edit(), 0..4), 6),
    ) {
        let directory = memory_directory();
        let root = directory.path().join("course");
        let mut edited = BTreeSet::<&str>::new();
        for (index, (choices, breaks_after)) in lessons.iter().enumerate() {
            let mut lesson = Lesson::new(choices);
            lesson.breaks_after = *breaks_after;
            let before = files(&root);
            let version = format!("version{index}");
            let merged = attempt(&directory, &version, &mut lesson);
            let after = files(&root);
            for (path, text) in before.iter().filter(|(_, text)| text.contains("student")) {
                prop_assert_eq!(after.get(path), Some(text), "{}", path);
            }
            if merged.is_ok() {
                prop_assert_eq!(run(&directory, &version, &mut lesson), Merged::default());
                for (path, text) in lesson.files.iter().filter(|(path, _)| !edited.iter().any(|other| meets(path, other))) {
                    prop_assert_eq!(after.get(path), Some(text), "{} is untouched", path);
                }
            }
            edited.extend(edits[index].iter().map(edited_path));
            edits[index].iter().for_each(|edit| apply(&root, edit));
        }
    }
}

/// Version of a teacher. The student works after the merge has decided the changes, and before it makes them.
struct Late<'a> {
    lesson: Lesson,
    root: &'a Path,
    edits: &'a [Edit],
}

impl Content for Late<'_> {
    fn manifest(&self) -> &Manifest {
        self.lesson.manifest()
    }

    fn read(&mut self, wanted: &dyn Fn(&str) -> bool, receive: &mut Receive<'_>) -> Result<(), Failure> {
        self.edits.iter().for_each(|edit| apply(self.root, edit));
        self.lesson.read(wanted, receive)
    }
}

#[test]
fn change_of_a_student_during_the_merge_stays_and_is_a_conflict() {
    let directory = memory_directory();
    let root = directory.path().join("course");
    let [replaced, placed] = ["d.txt", "i"].map(|path| PATHS.iter().position(|found| *found == path).unwrap());
    run(&directory, "version1", &mut Lesson::new(&[(replaced, 0)]));
    let lesson = Lesson::new(&[(replaced, 1), (placed, 1)]);
    let edits = [Edit::Append(replaced, 5), Edit::Write(placed, 6)];
    let merged = run(&directory, "version2", &mut Late { lesson, root: &root, edits: &edits });
    assert_eq!(merged.conflicts, ["d.txt", "i"]);
    let found = files(&root);
    assert_eq!((&*found["d.txt"], &*found["i"]), ("teacher 0\nstudent 5\n", "student 6\n"));
    let beside = found.iter().filter(|(path, text)| path.contains("(from teacher version") && *text == "teacher 1\n");
    assert_eq!(beside.count(), 2, "{found:?}");
}

/// True for a file that the merge placed beside another one.
fn is_new_beside(path: &str, before: &Files) -> bool {
    path.contains("(from teacher") && !before.contains_key(path)
}

fn owned((path, text): (&String, &String)) -> (String, String) {
    (path.clone(), text.clone())
}
