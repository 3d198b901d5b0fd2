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
fn crd_command_prints_both_definitions() {
    let output = launcher(&["crd"], &[]);
    let printed = text(&output.stdout);
    assert!(
        printed == include_str!("../../../../crds/workshops.yaml"),
        "crds/workshops.yaml is old: cargo run -p launcher -- crd > crds/workshops.yaml"
    );
    let printed: serde_json::Value = serde_json::from_str(printed).unwrap();
    let items = printed["items"].as_array().unwrap().iter();
    let plurals: Vec<_> = items
        .map(|crd| {
            assert_eq!(crd["spec"]["group"], "workshoplauncher.dev");
            assert_eq!(crd["spec"]["versions"][0]["subresources"]["status"], serde_json::json!({}));
            crd["spec"]["names"]["plural"].clone()
        })
        .collect();
    assert_eq!(plurals, ["workshops", "workshopdownloads"]);
}
