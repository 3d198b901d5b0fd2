use launcher_process::serve::raise_open_file_limit;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn open_file_limit_is_raised_to_the_hard_limit() {
    let limit = getrlimit(Resource::Nofile);
    let lowered = limit.current.map(|files| files - 1);
    setrlimit(Resource::Nofile, Rlimit { current: lowered, ..limit }).unwrap();
    raise_open_file_limit();
    assert_eq!(getrlimit(Resource::Nofile).current, limit.maximum);
    raise_open_file_limit();
    assert_eq!(getrlimit(Resource::Nofile).current, limit.maximum);
}
