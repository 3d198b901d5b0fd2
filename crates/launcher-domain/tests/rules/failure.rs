use std::path::Path;

use launcher_domain::failure::STANDARD;
use launcher_domain::{CodedText, FailureCode, FailureDetail, FailureReason, FailureRemedy, TextKey};

#[test]
fn failure_detail_is_appended_to_the_standard_message() {
    let reason = FailureReason::new(FailureCode::Evicted, None);
    let detailed = FailureReason::new(FailureCode::Evicted, Some("It used 3 GiB.".into()));
    assert_eq!(detailed.message, format!("{} It used 3 GiB.", reason.message));
    assert_eq!((detailed.code, detailed.remedy), (reason.code, reason.remedy));
}

#[test]
fn failure_is_retryable_like_its_code() {
    assert!(FailureCode::Evicted.retryable() && !FailureCode::InvalidSpec.retryable());
    for code in FailureCode::ALL {
        assert_eq!(FailureReason::new(code, None).retryable, code.retryable(), "{code:?}");
    }
}

#[test]
fn failure_codes_have_distinct_messages() {
    let mut messages = FailureCode::ALL.map(|code| FailureReason::new(code, None).message).to_vec();
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), FailureCode::ALL.len());
}

#[test]
fn replacing_the_remedy_keeps_code_and_message_of_failure() {
    let reason = FailureReason::new(FailureCode::Crashed, Some("It ended with status 3.".into()));
    let replaced = reason.clone().with_remedy(&FailureRemedy::AddCommand);
    let remedy = "Add a command to the template: this fleet does not run images.".to_owned();
    let remedy_code = Some(Box::new(FailureRemedy::AddCommand.coded()));
    assert_eq!(replaced, FailureReason { remedy, remedy_code, ..reason });
}

fn keys(reason: &FailureReason) -> Vec<String> {
    reason.message_keys().into_iter().map(|text| text.key).collect()
}

#[test]
fn failure_sentences_and_remedy_have_keys_for_translators() {
    let detail = FailureDetail::ExitStatus { status: "3".to_owned() };
    let reason = FailureReason::new(FailureCode::Crashed, None);
    assert_eq!(
        (keys(&reason), reason.remedy_key().key.as_str()),
        (vec!["failure-crashed".to_owned()], "failure-remedy-crashed")
    );

    let detailed =
        FailureReason::new(FailureCode::Crashed, Some(detail.clone())).with_remedy(&FailureRemedy::AddCommand);
    assert_eq!(keys(&detailed), ["failure-crashed", "failure-detail-exit-status"]);
    assert_eq!(detailed.message_keys()[1].args["status"], "3");
    assert_eq!(detailed.message, "The workshop's program stopped unexpectedly. It ended with status 3.");
    assert_eq!(detailed.message_codes[0].code, STANDARD);
    assert_eq!(detailed.remedy_key().key, "failure-advice-add-command");

    let only = FailureReason::only(FailureCode::Crashed, &detail);
    assert_eq!(
        (keys(&only), only.message.as_str()),
        (vec!["failure-detail-exit-status".to_owned()], "It ended with status 3.")
    );
}

#[test]
fn failure_of_an_earlier_version_keeps_its_english_texts() {
    let stored = |message: &str, remedy: &str| -> FailureReason {
        let json = serde_json::json!({"code": "evicted", "message": message, "remedy": remedy, "retryable": true});
        serde_json::from_value(json).unwrap()
    };
    let standard = FailureReason::new(FailureCode::Evicted, None);
    assert_eq!(stored(&standard.message, &standard.remedy), standard);
    let text =
        |key: &str, text: &str| TextKey { key: key.to_owned(), args: [("text".to_owned(), text.to_owned())].into() };
    let detailed = stored(&format!("{} It used 3 GiB.", standard.message), "Wait.");
    assert_eq!(detailed.message_keys()[0].key, "failure-evicted");
    assert_eq!(detailed.message_keys()[1..], [text("failure-detail-text", "It used 3 GiB.")]);
    assert_eq!(detailed.remedy_key(), text("failure-advice-text", "Wait."));
    assert_eq!(stored("Gone.", "Wait.").message_keys(), [text("failure-detail-text", "Gone.")]);
}

#[test]
fn plain_failure_is_stored_as_by_earlier_versions() {
    let stored = serde_json::to_value(FailureReason::new(FailureCode::Evicted, None)).unwrap();
    let fields: Vec<_> = stored.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["code", "message", "remedy", "retryable"]);
}

#[test]
fn text_codes_are_distinct_and_texts_contain_their_arguments() {
    use launcher_domain::input::{AmountError, CommandLineError, DurationError};
    for texts in [
        FailureDetail::TEXTS,
        FailureRemedy::TEXTS,
        launcher_domain::FieldRule::TEXTS,
        &[AmountError::TEXTS, CommandLineError::TEXTS, DurationError::TEXTS].concat(),
    ] {
        let mut codes: Vec<_> = texts.iter().map(|(code, ..)| code).collect();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), texts.len());
        for (code, text, args) in texts {
            let unused = args.iter().filter(|arg| !text.contains(&format!("{{{arg}}}")));
            let unused: Vec<_> = unused.collect();
            assert!(unused.is_empty() || (*code, unused[0]) == ("field-unknown", &"field"), "{code}: {unused:?}");
        }
    }
}

#[test]
fn user_sees_standard_remedy_instead_of_one_for_admins() {
    let standard = FailureReason::new(FailureCode::AppNotAvailable, None);
    for code in FailureRemedy::FOR_ADMINS {
        let remedy = CodedText { code: code.to_owned(), args: [("program".to_owned(), "x".to_owned())].into() };
        let failure = FailureReason { remedy_code: Some(Box::new(remedy)), ..standard.clone() };
        assert_eq!(failure.user_remedy_key(), standard.remedy_key(), "{code}");
        assert_ne!(failure.remedy_key(), standard.remedy_key(), "{code}");
    }
    let for_users = standard.clone().with_remedy(&FailureRemedy::TellAdministrator);
    assert_eq!(for_users.user_remedy_key(), for_users.remedy_key());
    let known: Vec<&str> = FailureRemedy::TEXTS.iter().map(|(code, _, _)| *code).collect();
    assert!(FailureRemedy::FOR_ADMINS.iter().all(|code| known.contains(code)));
}

#[test]
fn documents_of_the_fleets_name_each_failure_code() {
    let read =
        |name| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap();
    let text = ["operator.md", "local-fleet.md"].map(read).concat();
    let missing: Vec<_> =
        FailureCode::ALL.iter().filter(|code| !text.contains(&format!("`{}`", code.as_str()))).collect();
    assert!(missing.is_empty(), "neither docs/operator.md nor docs/local-fleet.md explains {missing:?}");
}
