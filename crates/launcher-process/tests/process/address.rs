use std::path::PathBuf;

use launcher_process::listener::Address;

#[test]
fn address_is_ip_with_port_or_absolute_path_of_unix_socket() {
    for text in ["0.0.0.0:8080", "[::1]:0", "unix:/run/workshop-launcher/http.sock"] {
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }
    let path = PathBuf::from("/run/a:b c");
    assert_eq!("unix:/run/a:b c".parse(), Ok(Address::Unix(path)));
}

#[test]
fn error_of_invalid_address_says_what_to_write() {
    for (text, said) in [
        ("", "write IP:PORT"),
        ("8080", "write IP:PORT"),
        ("localhost:8080", "write IP:PORT"),
        ("/run/http.sock", "unix: and an absolute path"),
        ("unix:", "write unix:/absolute/path.sock"),
        ("unix:http.sock", "write unix:/absolute/path.sock"),
        ("unix://host/http.sock\0", "write unix:/absolute/path.sock"),
    ] {
        let error = text.parse::<Address>().unwrap_err().to_string();
        assert!(error.contains(said), "{text:?}: {error}");
    }
}

#[test]
fn path_that_exceeds_the_limit_of_the_kernel_is_rejected() {
    let path = |length: usize| format!("unix:/{}", "x".repeat(length - 1));
    assert!(path(107).parse::<Address>().is_ok());
    let error = path(108).parse::<Address>().unwrap_err().to_string();
    assert!(error.contains("has 108 bytes, and the kernel allows 107"), "{error}");
}
