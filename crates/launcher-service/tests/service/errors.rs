use launcher_service::{Chain, ServiceError};

#[derive(Debug, thiserror::Error)]
#[error("the lock is held")]
struct Locked;

#[test]
fn a_log_line_has_everything_behind_an_error() {
    let error = ServiceError::Internal(Box::new(std::io::Error::other(Locked)));
    assert_eq!(Chain(&error).to_string(), "internal error: the lock is held");
}
