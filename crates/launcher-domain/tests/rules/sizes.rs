//! Tests of the sizes of workshops.

use launcher_domain::quantity::Quantity;
use launcher_domain::template::Resources;
use launcher_domain::{Size, Sizes};
use serde_json::json;

fn names(sizes: &Sizes) -> Vec<&str> {
    sizes.iter().map(|size| size.name.as_str()).collect()
}

fn resources(json: &serde_json::Value) -> Resources {
    Resources::of_json(json).unwrap()
}

#[test]
fn default_sizes_are_three_of_which_the_middle_one_is_that_of_a_new_template() {
    let sizes = Sizes::default();
    assert_eq!(names(&sizes), ["small", "medium", "large"]);
    assert_eq!(sizes, Sizes::parse(Sizes::DEFAULT).unwrap());
    assert_eq!(sizes.of(&resources(&json!({}))).unwrap().name, "medium");
}

#[test]
fn size_is_found_by_the_value_of_all_its_resources() {
    let sizes = Sizes::parse(r#"[{"name": "GPU", "resources": {"cpu_limit": "8", "memory_limit": "32Gi"}}]"#).unwrap();
    let same =
        json!({ "cpu_request": "0.1", "cpu_limit": "8000m", "memory_request": "256Mi", "memory_limit": "32768Mi" });
    assert_eq!(sizes.of(&resources(&same)).map(|size| size.name.as_str()), Some("GPU"));
    for field in Resources::FIELDS {
        let mut other = same.clone();
        other[field] = json!("2Mi");
        if let Some(other) = Resources::of_json(&other) {
            assert_eq!(sizes.of(&other), None, "{field}");
        }
    }
}

#[test]
fn smallest_size_with_enough_memory_fits() {
    let sizes = Sizes::default();
    let fitting = |memory: &str| sizes.fitting(&Quantity::parse(memory).unwrap()).map(|size| size.name.as_str());
    assert_eq!(
        ["1Mi", "1Gi", "1.5Gi", "2Gi", "3Gi", "64Gi"].map(fitting).map(Option::unwrap),
        ["small", "small", "medium", "medium", "large", "large"]
    );
    assert_eq!(Sizes::parse("[]").unwrap().fitting(&Quantity::parse("1Gi").unwrap()), None::<&Size>);
    let some = ["large".to_owned(), "gone".to_owned()];
    assert_eq!((names(&sizes.only(&some)), names(&sizes.only(&[])).len()), (vec!["large"], 3));
}

#[test]
fn wrong_list_of_sizes_is_refused_with_its_entry() {
    for (wrong, words) in [
        ("small", "write a JSON list of sizes"),
        (r#"[{"name": "a"}]"#, "entry 1: /resources: is required"),
        (r#"[{"name": "a", "resources": {}}, {"name": "", "resources": {}}]"#, "entry 2: /name: 1 to 80 characters"),
        (r#"[{"name": "a", "resources": {"memory": "1Gi"}}]"#, "entry 1: /resources/memory: is not a field here"),
        (r#"[{"name": "a", "resources": {"memory_limit": "1x"}}]"#, "entry 1: /resources/memory_limit: "),
        (r#"[{"name": "a", "resources": {"memory_limit": "64Mi"}}]"#, "entry 1: /resources/memory_request: at most"),
        (r#"[{"name": "a", "resources": {}}, {"name": "a", "resources": {}}]"#, "entry 2: the name a is given twice"),
    ] {
        let error = Sizes::parse(wrong).unwrap_err().to_string();
        assert!(error.contains(words), "{wrong}: {error}");
    }
}
