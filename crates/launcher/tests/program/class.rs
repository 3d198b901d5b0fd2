use launcher_store::Store;

use crate::{launcher, text};

const FILE: &str =
    "name: Statistics 101\ntemplates:\n- name: Exercise\n  app_type: notebook\n  image: example.org/image\n";

#[tokio::test]
async fn class_is_imported_and_exported_in_the_database_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let url = format!("sqlite://{}", path("launcher.db"));
    let class = |arguments: &[&str]| {
        let output = launcher(&[&["class"], arguments].concat(), &[("SERVICE_DATABASE_URL", &url)]);
        (output.status.success(), format!("{}{}", text(&output.stdout), text(&output.stderr)))
    };
    let import = |name: &str, content: &str| {
        std::fs::write(path(name), content).unwrap();
        class(&["import", &path(name), "--teacher", "tina@example.org"])
    };
    let (done, said) = import("class.yaml", FILE);
    assert!(!done && said.contains("there is no such file"), "a database that does not exist: {said}");
    Store::open(&url).await.unwrap().close().await;

    let (done, said) = import("class.yaml", FILE);
    assert!(done && said.contains("/classes/statistics-101"), "{said}");
    let (done, exported) = class(&["export", "statistics-101"]);
    assert!(done && exported.contains("image: example.org/image"), "{exported}");
    let (done, said) = import("again.yaml", &exported);
    assert!(done && said.contains("/classes/statistics-101-"), "{said}");

    let (done, said) = import("wrong.yaml", "templates:\n- name: Exercise\n");
    assert!(!done && said.contains("wrong.yaml: /name: ") && said.contains("; /templates/0/image: "), "{said}");
    let (done, said) = class(&["export", "nothing"]);
    assert!(!done && said.contains("no class with the slug nothing"), "{said}");
    assert!(!class(&["import", &path("class.yaml")]).0, "without a teacher");
}
