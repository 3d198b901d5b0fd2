use launcher_domain::{FailureCode, FailureReason};

#[test]
fn failure_detail_is_appended_to_the_standard_message() {
    let reason = FailureReason::new(FailureCode::Evicted, None);
    let detailed = FailureReason::new(FailureCode::Evicted, Some("It used 3 GiB."));
    assert_eq!(detailed.message, format!("{} It used 3 GiB.", reason.message));
    assert_eq!((detailed.code, detailed.remedy), (reason.code, reason.remedy));
}

#[test]
fn failure_of_image_spec_or_missing_program_is_not_retryable() {
    for code in FailureCode::ALL {
        let permanent =
            [FailureCode::ImagePullFailed, FailureCode::InvalidSpec, FailureCode::AppNotAvailable].contains(&code);
        assert_eq!(code.retryable(), !permanent, "{code:?}");
        assert_eq!(FailureReason::new(code, None).retryable, !permanent, "{code:?}");
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
    let reason = FailureReason::new(FailureCode::Crashed, Some("It ended with status 3."));
    let replaced = reason.clone().with_remedy("Wait.");
    assert_eq!(replaced, FailureReason { remedy: "Wait.".to_owned(), ..reason });
}
