use crate::{launcher, text};

#[test]
fn openapi_command_prints_committed_document() {
    let output = launcher(&["openapi"], &[]);
    assert!(output.status.success());
    assert!(
        text(&output.stdout) == include_str!("../../../../docs/openapi.json"),
        "docs/openapi.json is old: cargo run -p launcher -- openapi > docs/openapi.json"
    );
}

#[test]
fn crd_command_prints_workshop_definition() {
    let output = launcher(&["crd"], &[]);
    let crd: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(crd["spec"]["group"], "workshoplauncher.dev");
    assert_eq!(crd["spec"]["versions"][0]["subresources"]["status"], serde_json::json!({}));
}
