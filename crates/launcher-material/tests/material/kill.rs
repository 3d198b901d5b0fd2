//! Kills of the program at any moment: nothing of the student is lost, and the next run completes the work.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use launcher_domain::material::MATERIAL_VARIABLE;
use launcher_domain::material::MaterialOutcome;

use crate::support::repository::Repository;
use crate::support::{Student, assert_outcome, git};

const FILES: usize = 300;
const ROUNDS: u32 = 20;

fn start(student: &Student, url: &str) -> Child {
    let config = serde_json::to_string(&student.config(vec![git(url)])).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
    command.env(MATERIAL_VARIABLE, config).stdout(Stdio::null()).spawn().unwrap()
}

fn lesson(round: u32) -> BTreeMap<String, String> {
    let name = |number: usize| format!("week{}/file{number}.txt", number % 7);
    let kept = (0..FILES).filter(|number| !(number + round as usize).is_multiple_of(11));
    kept.map(|number| (name(number), format!("lesson {round}, file {number}\n").repeat(50))).collect()
}

#[test]
fn killed_runs_lose_nothing_and_the_next_one_completes() {
    let (repository, student) = (Repository::new(), Student::new());
    let commit = |round: u32| {
        let files = lesson(round);
        repository.commit_bytes(&files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect())
    };
    commit(0);
    let begin = Instant::now();
    assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Placed);
    let mut usual = begin.elapsed();
    let mine = ["week0/file0.txt", "week1/file1.txt", "week2/own.txt"];
    for path in mine {
        student.write(&format!("course/{path}"), "my line\n");
    }
    let mut killed = 0;
    for round in 1..=ROUNDS {
        commit(round);
        let mut child = start(&student, &repository.url());
        // Moments that are spread over the whole run, and its end.
        let moment = usual * round / ROUNDS * 5 / 4;
        std::thread::sleep(moment); // pacing: each round kills at another moment
        if child.try_wait().unwrap().is_some() {
            // The first run may have been slow by chance.
            usual = usual.min(moment);
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        for path in mine {
            assert_eq!(student.read(&format!("course/{path}")), "my line\n", "round {round}");
        }
        // Every second time, a newer version meets the unfinished one.
        if round % 2 == 0 {
            assert_complete(&student, &repository, round, &mine);
        }
    }
    assert!(killed > 3, "only {killed} runs were killed");
}

/// Runs again, and compares all files that the student did not change.
fn assert_complete(student: &Student, repository: &Repository, round: u32, mine: &[&str]) {
    let report = student.place(&git(&repository.url()));
    assert_ne!(report.outcome, MaterialOutcome::Failed, "{report:?}");
    let found: BTreeMap<String, String> = student
        .files("course")
        .into_iter()
        .filter(|(path, _)| !path.contains("from teacher") && !mine.contains(&path.as_str()))
        .collect();
    let expected: BTreeMap<String, String> =
        lesson(round).into_iter().filter(|(path, _)| !mine.contains(&path.as_str())).collect();
    let wrong: Vec<&String> =
        found.keys().chain(expected.keys()).filter(|path| found.get(*path) != expected.get(*path)).collect();
    assert!(wrong.is_empty(), "round {round}: {wrong:?}");
    assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Unchanged);
    let beside =
        student.files("course").keys().filter(|path| path.contains("from teacher")).cloned().collect::<Vec<_>>();
    let of_others =
        beside.iter().filter(|path| !path.contains("file0 ") && !path.contains("file1 ")).collect::<Vec<_>>();
    assert!(of_others.is_empty(), "an unchanged file is no conflict: {of_others:?}");
    let state: Vec<_> = std::fs::read_dir(student.path(".course-material")).unwrap().flatten().collect();
    assert_eq!(state.len(), 1, "{state:?}");
}
