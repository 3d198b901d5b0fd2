//! `GET /guide/teachers`: a class in ten steps, with examples of its pages, and then the guide for administrators.

use askama::Template;
use launcher_domain::{FailureCode, FailureReason, InstanceState};

use crate::pages::classes::board::{Board, Row, RowWorkshop, Standing, counts};
use crate::pages::classes::hands::News;
use crate::pages::classes::join::CurrentLink;
use crate::pages::{Language, PageResult, Shell, Visitor, assets, markdown, page};

/// Separates the parts of the document, each of which an example follows.
const BREAK: &str = "\n---\n";

#[derive(Debug, Template)]
#[template(path = "class_guide.html")]
struct Guide {
    t: Language,
    shell: Shell,
    /// The steps up to the code, the board, the hand, and the end.
    steps: [String; 4],
    current: CurrentLink,
    board: Board,
    news: News,
    text: String,
}

/// Serves the page. Its examples are the parts of the pages of a class, in the language of the reader.
pub(crate) async fn show(visitor: Visitor) -> PageResult {
    let t = visitor.t;
    let mut parts = t.document("class").split(BREAK);
    let steps = [(); 4].map(|()| markdown::to_html(&with_labels(t, parts.next().unwrap_or_default())));
    page(&Guide {
        t,
        shell: visitor.shell(""),
        steps,
        current: CurrentLink::example(&visitor),
        board: board(t),
        news: News::example(&visitor),
        text: markdown::to_html(t.document("teachers")),
    })
}

/// Replaces each key in braces by its text: the names of buttons are those of the pages.
fn with_labels(t: Language, document: &str) -> String {
    let mut parts = document.split(['{', '}']);
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(key) = parts.next() {
        text.push_str(&t.text(key));
        text.push_str(parts.next().unwrap_or_default());
    }
    text
}

fn board(t: Language) -> Board {
    let workshop = |state: InstanceState, failure: Option<FailureCode>| RowWorkshop {
        k8s_name: String::new(),
        template: t.text("preset-jupyterlab").into_owned(),
        state,
        state_text: t.state_name(state).into_owned(),
        failure: failure.map(|code| t.failure_message(&FailureReason::new(code, None))),
        trouble: None,
        ends: None,
        used: None,
        expected_expires_at: String::new(),
    };
    let row = |who: &str, workshops: Vec<RowWorkshop>| Row {
        email: format!("{who}@example.org"),
        name: t.text(&format!("guide-{who}")).into_owned(),
        role: None,
        is_member: true,
        standing: Standing::of(&workshops, Standing::Absent),
        left: None,
        is_aside: false,
        workshops,
    };
    let failed = workshop(InstanceState::Failed, Some(FailureCode::OutOfMemory));
    let rows = vec![
        row("grace", vec![failed]),
        row("alan", Vec::new()),
        row("ada", vec![workshop(InstanceState::Running, None)]),
    ];
    Board {
        path: String::new(),
        all: rows.len(),
        counts: counts(&rows),
        rows,
        search: String::new(),
        standings: Vec::new(),
        can_manage: false,
        can_end: true,
    }
}
