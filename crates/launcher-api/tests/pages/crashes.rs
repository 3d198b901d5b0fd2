//! The notice about the last crash of a running workshop.

use launcher_domain::FailureCode;

use crate::support::{ADMIN, ALICE, App};

/// Sentences about the cause, the files and the next step.
type Sentences = [&'static str; 3];

const CASES: [(FailureCode, bool, Sentences); 6] = [
    (FailureCode::OutOfMemory, false, ["ran out of memory", "Saved files are still there.", "Load less data at once"]),
    (
        FailureCode::OutOfMemory,
        true,
        ["ran out of memory", "Files that were not saved elsewhere are lost.", "Load less data at once"],
    ),
    (FailureCode::Crashed, false, ["stopped unexpectedly", "Saved files are still there.", "tell your teacher"]),
    (
        FailureCode::Crashed,
        true,
        ["stopped unexpectedly", "Files that were not saved elsewhere are lost.", "tell your teacher"],
    ),
    (FailureCode::NodeLost, false, ["The server of the workshop stopped", "Saved files", "Open your files again."]),
    (FailureCode::Evicted, false, ["The server of the workshop stopped", "Saved files", "Open your files again."]),
];

/// Returns the notice on a page; empty if there is none.
fn notice(page: &str) -> &str {
    let notice = page.split_once("notice-wait\" role=\"note\">").map_or("", |(_, rest)| rest);
    notice.split_once("</p>").map_or("", |(notice, _)| notice)
}

#[tokio::test]
async fn notice_names_cause_time_files_and_next_step() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let detail = format!("/instances/{name}");
    let ready = alice.get_until(&detail, "Ready").await.body;
    assert_eq!(notice(&ready), "");

    for (code, files_lost, sentences) in CASES {
        app.test.fleet.crash(&name, code, files_lost);
        let at = app.test.fleet.workshop(&name).unwrap().status.unwrap().report.last_crash.unwrap().at;
        for page in [&detail, "/"] {
            // Two cases have the same sentences. The time tells that the page shows this crash.
            let shown = alice.get_until(page, &format!(" at <time datetime=\"{at}\" data-local>")).await.body;
            let notice = notice(&shown);
            assert!(sentences.iter().all(|sentence| notice.contains(sentence)), "{notice}");
            assert!(shown.contains("Ready") && shown.contains(".workshops.test"), "the workshop stays ready: {shown}");
        }
        assert!(notice(&app.browser(ADMIN).get(&detail).await.body).contains(sentences[0]));
    }
    app.finish().await;
}

#[tokio::test]
async fn failed_workshop_shows_only_the_failure() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    app.test.fleet.crash(&name, FailureCode::OutOfMemory, false);
    alice.get_until(&detail, "was started again").await;

    app.test.fleet.fail(&name, FailureCode::OutOfMemory, "");

    let failed = alice.get_until(&detail, "Failed").await.body;
    assert!(failed.contains("exceeded its memory limit") && !failed.contains("was started again"), "{failed}");
    app.finish().await;
}
