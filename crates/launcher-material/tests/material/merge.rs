//! The rules of a merge, one by one.

use std::fs;

use launcher_domain::material::{MaterialOutcome, SourceReport};

use crate::support::repository::Repository;
use crate::support::{Student, assert_outcome, git};

/// Course whose teacher and student change files.
struct Course {
    repository: Repository,
    student: Student,
}

impl Course {
    /// Places a first version.
    fn new(files: &[(&str, &str)]) -> Self {
        let course = Self { repository: Repository::new(), student: Student::new() };
        assert_outcome(&course.teach(files), MaterialOutcome::Placed);
        course
    }

    /// Commits exactly these files, and places them.
    fn teach(&self, files: &[(&str, &str)]) -> SourceReport {
        self.repository.commit(files);
        self.student.place(&git(&self.repository.url()))
    }

    fn write(&self, path: &str, content: &str) {
        self.student.write(&format!("course/{path}"), content);
    }

    /// The teacher's version beside a file, by the name before and after the remark.
    fn beside(&self, before: &str, after: &str) -> Option<String> {
        let files = self.student.files("course");
        let start = format!("{before} (from teacher ");
        let mut found = files.into_iter().filter(|(path, _)| path.starts_with(&start) && path.ends_with(after));
        found.next().map(|(_, content)| content)
    }

    #[track_caller]
    fn assert_files(&self, expected: &[(&str, &str)]) {
        let files: Vec<(String, String)> = self.student.files("course").into_iter().collect();
        let found: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn teachers_change_replaces_unchanged_file() {
    let course = Course::new(&[("a", "1"), ("b", "1")]);
    let report = course.teach(&[("a", "2"), ("b", "1"), ("c", "new")]);
    assert_outcome(&report, MaterialOutcome::Updated);
    assert_eq!(report.conflict_count, 0);
    course.assert_files(&[("a", "2"), ("b", "1"), ("c", "new")]);
}

#[test]
fn students_change_stays() {
    let course = Course::new(&[("a", "1"), ("b", "1")]);
    course.write("a", "mine");
    course.write("own", "mine");
    let report = course.teach(&[("a", "1"), ("b", "2")]);
    assert_eq!(report.conflict_count, 0);
    course.assert_files(&[("a", "mine"), ("b", "2"), ("own", "mine")]);
}

#[test]
fn change_of_both_keeps_students_file_and_places_teachers_beside() {
    let course = Course::new(&[("week1/a.ipynb", "1")]);
    course.write("week1/a.ipynb", "mine");
    let report = course.teach(&[("week1/a.ipynb", "2")]);
    assert_outcome(&report, MaterialOutcome::Updated);
    assert_eq!((report.conflicts.as_slice(), report.conflict_count), (["week1/a.ipynb".to_owned()].as_slice(), 1));
    assert_eq!(course.student.read("course/week1/a.ipynb"), "mine");
    let short = &report.version.unwrap()[..7];
    assert_eq!(course.student.read(&format!("course/week1/a (from teacher {short}).ipynb")), "2");
    let again = course.teach(&[("week1/a.ipynb", "2"), ("b", "1")]);
    assert_eq!(again.conflict_count, 0, "a conflict is reported once");
}

#[test]
fn same_change_of_both_is_no_conflict() {
    let course = Course::new(&[("a", "1")]);
    course.write("a", "2");
    assert_eq!(course.teach(&[("a", "2")]).conflict_count, 0);
    let report = course.teach(&[("a", "3")]);
    assert_eq!(report.conflict_count, 0);
    course.assert_files(&[("a", "3")]);
}

#[test]
fn file_beside_never_replaces_another_one() {
    let course = Course::new(&[("a.txt", "1")]);
    course.write("a.txt", "mine");
    course.repository.commit(&[("a.txt", "2")]);
    let commit = course.repository.git(&["rev-parse", "--short=7", "HEAD"]);
    let name = format!("a (from teacher {commit}).txt");
    course.write(&name, "my notes");
    let report = course.student.place(&git(&course.repository.url()));
    assert_eq!(report.conflict_count, 1);
    assert_eq!(course.student.read(&format!("course/{name}")), "my notes");
    assert_eq!(course.student.read(&format!("course/a (from teacher {commit}, 2).txt")), "2");
}

#[test]
fn deleted_file_stays_deleted() {
    let course = Course::new(&[("a", "1"), ("dir/b", "1"), ("c", "1")]);
    fs::remove_file(course.student.path("course/a")).unwrap();
    fs::remove_dir_all(course.student.path("course/dir")).unwrap();
    let report = course.teach(&[("a", "2"), ("dir/b", "2"), ("c", "2")]);
    assert_eq!(report.conflict_count, 0);
    course.assert_files(&[("c", "2")]);
    course.teach(&[("a", "3"), ("dir/b", "3"), ("dir/new", "3"), ("c", "2")]);
    course.assert_files(&[("c", "2"), ("dir/new", "3")]);
    fs::remove_dir_all(course.student.path("course")).unwrap();
    course.teach(&[("a", "4"), ("c", "4")]);
    assert!(!course.student.path("course").exists());
}

#[test]
fn teachers_deletion_removes_only_unchanged_files() {
    let course = Course::new(&[("a", "1"), ("b", "1"), ("dir/sub/c", "1"), ("other/d", "1")]);
    course.write("b", "mine");
    course.write("other/own", "mine");
    let report = course.teach(&[("e", "1")]);
    assert_eq!(report.conflict_count, 0);
    course.assert_files(&[("b", "mine"), ("e", "1"), ("other/own", "mine")]);
    assert!(!course.student.path("course/dir").exists(), "empty directories are removed");
}

#[test]
fn new_file_with_name_of_students_file_is_a_conflict() {
    let course = Course::new(&[("a", "1")]);
    course.write("week2.md", "my notes");
    course.write("same.md", "same");
    let report = course.teach(&[("a", "1"), ("week2.md", "from the teacher"), ("same.md", "same")]);
    assert_eq!(report.conflicts, ["week2.md"]);
    assert_eq!(course.student.read("course/week2.md"), "my notes");
    assert_eq!(course.beside("week2", ".md").as_deref(), Some("from the teacher"));
}

#[test]
fn existing_files_are_merged_in_the_first_run() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1"), ("b", "1")]);
    student.write("course/a", "mine");
    let report = student.place(&git(&repository.url()));
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_eq!(report.conflicts, ["a"]);
    assert_eq!((student.read("course/a"), student.read("course/b")), ("mine".to_owned(), "1".to_owned()));
}

#[test]
fn directory_of_student_in_place_of_file_stays() {
    let course = Course::new(&[("a.md", "1"), ("b", "1")]);
    fs::remove_file(course.student.path("course/a.md")).unwrap();
    course.write("a.md/own", "mine");
    assert_eq!(course.teach(&[("a.md", "1"), ("b", "2")]).conflict_count, 0);
    let report = course.teach(&[("a.md", "2"), ("b", "2")]);
    assert_eq!(report.conflicts, ["a.md"]);
    assert_eq!(course.student.read("course/a.md/own"), "mine");
    assert_eq!(course.beside("a", ".md").as_deref(), Some("2"));
}

#[test]
fn file_of_student_in_place_of_directory_stays() {
    let course = Course::new(&[("dir/a", "1")]);
    fs::remove_dir_all(course.student.path("course/dir")).unwrap();
    course.write("dir", "mine");
    let report = course.teach(&[("dir/a", "2"), ("dir/sub/new", "3")]);
    assert_eq!(report.conflicts, ["dir/sub/new"]);
    assert_eq!(course.student.read("course/dir"), "mine");
    assert_eq!(course.beside("dir", "/sub/new").as_deref(), Some("3"));
}

#[test]
fn teacher_exchanges_files_and_directories() {
    let course = Course::new(&[("a", "1"), ("b/c", "1"), ("d", "1"), ("e/f", "1")]);
    course.write("d", "mine");
    course.write("e/own", "mine");
    let report = course.teach(&[("a/x", "2"), ("b", "2"), ("d/x", "2"), ("e", "2")]);
    assert_eq!(report.conflicts, ["d/x", "e"]);
    assert_eq!((course.student.read("course/a/x"), course.student.read("course/b")), ("2".to_owned(), "2".to_owned()));
    assert_eq!((course.student.read("course/d"), course.student.read("course/e/own")), ("mine".into(), "mine".into()));
    assert_eq!(course.beside("d", "/x").as_deref(), Some("2"));
    assert_eq!(course.beside("e", "").as_deref(), Some("2"));
}

#[test]
fn conflicts_are_named_up_to_ten() {
    let names: Vec<String> = (10..40).map(|number| format!("f{number}")).collect();
    let files = |content| names.iter().map(|name| (name.as_str(), content)).collect::<Vec<_>>();
    let course = Course::new(&files("1"));
    names.iter().for_each(|name| course.write(name, "mine"));
    let report = course.teach(&files("2"));
    assert_eq!((report.conflicts.len(), report.conflict_count), (10, 30));
}

#[test]
fn change_outside_of_folder_is_unchanged() {
    let course = Course::new(&[("week1/a", "1"), ("week2/a", "1")]);
    let source = launcher_domain::template::MaterialSource {
        folder: Some("week1".to_owned()),
        target: "week1".to_owned(),
        ..git(&course.repository.url())
    };
    assert_outcome(&course.student.place(&source), MaterialOutcome::Placed);
    course.repository.commit(&[("week1/a", "1"), ("week2/a", "2")]);
    assert_outcome(&course.student.place(&source), MaterialOutcome::Unchanged);
}

#[test]
fn huge_file_of_student_is_not_read() {
    let course = Course::new(&[("data", "1"), ("old", "1")]);
    for name in ["data", "old"] {
        let file = fs::File::create(course.student.path(&format!("course/{name}"))).unwrap();
        file.set_len(1 << 40).unwrap();
    }
    let report = course.teach(&[("data", "2")]);
    assert_outcome(&report, MaterialOutcome::Updated);
    assert_eq!(report.conflicts, ["data"]);
    for name in ["data", "old"] {
        let path = course.student.path(&format!("course/{name}"));
        assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 40);
        fs::remove_file(path).unwrap();
    }
    assert_eq!(course.beside("data", "").as_deref(), Some("2"));
}
