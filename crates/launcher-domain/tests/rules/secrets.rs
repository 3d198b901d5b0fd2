//! Secret values in texts and reports.

use std::collections::BTreeMap;

use launcher_domain::failure::STANDARD;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{CodedText, FailureCode, FailureDetail, FailureReason, Report, SecretValues};

fn secrets(values: &[&str]) -> SecretValues {
    values.iter().enumerate().map(|(index, value)| (format!("SECRET_{index}"), (*value).to_owned())).collect()
}

#[test]
fn redacted_text_has_no_occurrence_of_a_value() {
    let cases: [(&[&str], &str, &str); 11] = [
        (
            &["hunter2"],
            "token hunter2, again: hunter2\nhunter2hunter2",
            "token (secret), again: (secret)\n(secret)(secret)",
        ),
        (&["hunter2"], "Hunter2 hunter", "Hunter2 hunter"),
        (&["hunter2"], "", ""),
        (&[], "hunter2", "hunter2"),
        // Short values are left. The length is in characters.
        (&["abc", "äöü"], "abc äöü", "abc äöü"),
        (&["abcd", "äöüß"], "abcd-äöüß-ä", "(secret)-(secret)-ä"),
        // One value contains another one, or overlaps it.
        (&["pass", "password"], "password pass", "(secret) (secret)"),
        (&["abcd", "bcdefgh"], "abcdefgh.", "(secret)."),
        (&["abcdef", "bcde"], "abcdefg", "(secret)g"),
        (&["aaaa"], "aaaaab", "(secret)b"),
        // The replacement is not replaced again.
        (&["secret", "hunter2"], "hunter2 secret", "(secret) (secret)"),
    ];
    for (values, text, expected) in cases {
        assert_eq!(secrets(values).redact(text), expected, "{values:?}");
    }
}

#[test]
fn redacted_failure_has_no_secret_in_its_texts() {
    let reason = FailureReason::new(FailureCode::Crashed, Some(FailureDetail::from("exec hunter2: not found")));
    let report = Report { log_tail: Some("token hunter2".to_owned()), ..Report::default() };
    let seen = Observation { report, ..Observation::of_failure(reason) }.redacted(&secrets(&["hunter2"]));
    assert_eq!(seen.report.log_tail.as_deref(), Some("token (secret)"));
    assert!(!format!("{seen:?}").contains("hunter2"), "{seen:?}");
    let ObservedPhase::Failed(reason) = seen.phase else { panic!("{seen:?}") };
    let text = "exec (secret): not found".to_owned();
    assert_eq!(reason.message, format!("{} {text}", FailureCode::Crashed.message()));
    let standard = CodedText { code: STANDARD.to_owned(), args: BTreeMap::new() };
    let detail = CodedText { code: "text".to_owned(), args: BTreeMap::from([("text".to_owned(), text)]) };
    assert_eq!(reason.message_codes, [standard, detail]);
}

#[test]
fn redaction_leaves_standard_message() {
    let seen = Observation::of_failure(FailureReason::new(FailureCode::Crashed, None));
    let word = FailureCode::Crashed.message().split(' ').find(|word| word.len() >= 4).unwrap();
    assert_eq!(seen.clone().redacted(&secrets(&[word])), seen);
}
