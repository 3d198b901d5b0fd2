//! Course material, which a container of its own places before the app starts. Scripts replace the real program.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bollard::models::VolumeCreateRequest;
use bollard::query_parameters::{ListVolumesOptions, RemoveVolumeOptions};
use launcher_domain::{MaterialOutcome, SourceReport, StartStep};
use launcher_fleet::engine::Part;
use launcher_fleet::{ContainerFleet, ContainerSettings, Fleet};
use launcher_workshop::{Phase, Workshop, WorkshopMaterial, WorkshopStatus};
use serde_json::json;

use super::support::fleet::{
    LAST_LINE, VOLUME, clean_up, containers, data_dir_id, open, output, script, settings, storage, until_empty,
    wait_for, with_options, without_internet,
};
use super::support::{IMAGE, TestFleet, docker, engine, import, poll, until};

/// Places a file, notes each run in another one, and writes the report.
const PLACES: &str = "\
#!/bin/sh
cd $DIRECTORY/data || exit 1
echo lesson > lesson.txt
echo run >> runs
echo temporary > $TMPDIR/file && echo state > $DIRECTORY/.course-material/data.json || exit 1
echo 'a line of its log' >&2
echo '{\"sources\": [{\"target\": \"data\", \"outcome\": \"placed\", \"version\": \"0123abc\"}]}'
";
/// Waits for the file `go`, and then does the same.
const WAITS: &str = "until [ -e /work/data/go ]; do sleep 0.1; done";

/// Imports an image whose program is this script, for material in this directory. Returns its name.
async fn program(name: &str, directory: &str, text: &str) -> String {
    let image = format!("localhost/launcher-engine-test-{name}:1");
    let text = text.replace("$DIRECTORY", directory);
    import(&image, Some(("launcher-material", &text))).await;
    image
}

fn with_program(data_dir: &Path, image: &str) -> ContainerSettings {
    with_options(without_internet(data_dir), |options| options.material_image = Some(image.to_owned()))
}

/// A Workshop with material, whose app writes what it finds to its log, and serves HTTP.
fn reads_material(name: &str, directory: &str) -> Workshop {
    let text = format!(
        "exec 2>&1; cd {directory}/data; /bin/busybox ls; /bin/busybox stat -c 'owner %u' . lesson.txt; \
         echo mine >> lesson.txt; /bin/busybox cat lesson.txt; /bin/busybox wc -l < runs; echo {LAST_LINE}; \
         exec /bin/busybox httpd -f -p 127.0.0.1:$PORT -h ."
    );
    let mut workshop = script(name, &text);
    let source = json!({ "kind": "git", "url": "https://git.example.org/stats/101.git", "target": "data" });
    let material = json!({ "directory": directory, "sources": [source] });
    workshop.spec.material = Some(serde_json::from_value::<WorkshopMaterial>(material).unwrap());
    workshop
}

fn with_storage(mut workshop: Workshop, path: &str) -> Workshop {
    workshop.spec.storage = Some(storage(path));
    workshop
}

/// Writes the secret `statistics` of the administrator, and lets the source of the Workshop read it.
fn with_secret(data_dir: &Path, mut workshop: Workshop) -> Workshop {
    let directory = data_dir.join("material-secrets/statistics");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("password"), "hunter-2\n").unwrap();
    workshop.spec.material.as_mut().unwrap().sources[0].secret = Some("statistics".to_owned());
    workshop
}

/// The launcher's copies of the secrets, which exist while the material is loaded.
fn copies_of_secrets(data_dir: &Path) -> PathBuf {
    data_dir.join("fleet/workshops/lab-a/material-secrets")
}

/// Runs a Workshop until it is ready. Returns the report about its only source, and its log.
async fn run(fleet: &ContainerFleet, data_dir: &Path, workshop: &Workshop) -> (SourceReport, String) {
    fleet.apply(workshop).await.unwrap();
    let status = wait_for(fleet, workshop.metadata.name.as_deref().unwrap(), Phase::Running).await;
    let containers = containers(data_dir).await;
    assert_eq!(containers.iter().map(|one| one.part).collect::<Vec<_>>(), [Part::App, Part::Sidecar], "it is removed");
    (only_source(&status), output(&containers[0].name).await)
}

fn only_source(status: &WorkshopStatus) -> SourceReport {
    let sources = &status.report.material.as_ref().expect("a report").sources;
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert_eq!(sources[0].target, "data");
    sources[0].clone()
}

/// Returns the names of the volumes with material of the fleet.
async fn volumes(data_dir: &Path) -> Vec<String> {
    let label = format!("workshoplauncher.dev/fleet={}", data_dir_id(data_dir));
    let filters = Some(HashMap::from([("label".to_owned(), vec![label])]));
    let found = docker().list_volumes(Some(ListVolumesOptions { filters })).await.unwrap();
    let is_material = |labels: &HashMap<String, String>| labels.get("workshoplauncher.dev/part").is_some();
    let found = found.volumes.unwrap_or_default().into_iter().filter(|volume| is_material(&volume.labels));
    found.map(|volume| volume.name).collect()
}

#[tokio::test]
async fn app_without_storage_finds_the_material_in_a_volume_that_ends_with_the_workshop() {
    let home = tempfile::tempdir().unwrap();
    let image = program("places", "/work", PLACES).await;
    let fleet = open(with_program(home.path(), &image)).await;

    let (source, log) = run(&fleet, home.path(), &reads_material("lab-a", "/work")).await;

    assert_eq!((source.outcome.as_str(), source.version.as_deref()), ("placed", Some("0123abc")));
    assert_eq!(log, "lesson.txt\nruns\nowner 1000\nowner 1000\nlesson\nmine\n1");
    assert_eq!(volumes(home.path()).await.len(), 1);
    fleet.delete("lab-a", None).await.unwrap();
    until_empty(&fleet).await;
    assert_eq!(volumes(home.path()).await, [""; 0]);
    fleet.close().await;
}

#[tokio::test]
async fn material_is_beside_the_files_of_the_image_and_of_the_owner_in_a_volume() {
    let home = tempfile::tempdir().unwrap();
    let text = PLACES.replace(
        "cd $DIRECTORY/data",
        "/bin/busybox mkdir -p $DIRECTORY/data $DIRECTORY/.course-material; cd $DIRECTORY/data",
    );
    // The image of the app has this directory with a file, and it belongs to root.
    let image = program("keeps", "/www", &text).await;
    let fleet = open(with_program(home.path(), &image)).await;
    let workshop = |name: &str| {
        let mut workshop = with_storage(reads_material(name, "/www"), "/www");
        workshop.spec.command[3].insert_str(0, "/bin/busybox cat /www/index.html; ");
        workshop
    };

    let (_, first) = run(&fleet, home.path(), &workshop("lab-a")).await;
    fleet.delete("lab-a", None).await.unwrap();
    until_empty(&fleet).await;
    let (_, second) = run(&fleet, home.path(), &workshop("lab-b")).await;

    assert_eq!(first, "quick\nlesson.txt\nruns\nowner 1000\nowner 1000\nlesson\nmine\n1");
    assert!(second.starts_with("quick\n") && second.ends_with("\n2"), "{second}");
    assert_eq!(volumes(home.path()).await, [""; 0], "the volume belongs to the owner");
    fleet.delete("lab-b", None).await.unwrap();
    until_empty(&fleet).await;
    fleet.delete_volume(VOLUME).await.unwrap();
    fleet.close().await;
}

#[tokio::test]
async fn baseline_app_of_an_image_with_a_user_gets_files_of_this_user() {
    let home = tempfile::tempdir().unwrap();
    let image = program("baseline", "/work", PLACES).await;
    let fleet = open(with_program(home.path(), &image)).await;
    let mut workshop = reads_material("lab-a", "/work");
    "baseline".clone_into(&mut workshop.spec.security_profile);

    let (source, log) = run(&fleet, home.path(), &workshop).await;

    assert_eq!(source.outcome, MaterialOutcome::Placed);
    assert!(log.contains("owner 65532\nowner 65532\nlesson\nmine"), "{log}");
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn failing_program_stops_no_start_and_is_explained() {
    let cases = [
        ("fails", Some("#!/bin/sh\nexit 3\n"), "gave no report"),
        (
            "talks",
            Some("#!/bin/sh\necho '{\"sources\": [{\"target\": \"../x\", \"outcome\": \"placed\"}]}'\n"),
            "gave no report",
        ),
        // An image without the program, and one that no registry has.
        (IMAGE, None, "did not start"),
        ("127.0.0.1:1/none:1", None, "is missing"),
    ];
    TestFleet::new().await;
    for (name, text, message) in cases {
        let home = tempfile::tempdir().unwrap();
        let image = match text {
            Some(text) => program(name, "/work", text).await,
            None => name.to_owned(),
        };
        let fleet = open(with_program(home.path(), &image)).await;

        let (source, _) = run(&fleet, home.path(), &reads_material("lab-a", "/work")).await;

        assert_eq!(source.outcome, MaterialOutcome::Failed, "{name}");
        assert!(source.message.as_ref().is_some_and(|text| text.contains(message)), "{name}: {source:?}");
        clean_up(fleet, ["lab-a"]).await;
        assert_eq!(volumes(home.path()).await, [""; 0], "{name}");
    }
}

/// Writes what the user of the program finds in the folder of a secret into the file of the app.
const READS_SECRET: &str = "\
#!/bin/sh
cd /work/data || exit 1
secrets=/etc/workshop-launcher/material-secrets
/bin/busybox cat $secrets/statistics/username $secrets/statistics/password > lesson.txt
/bin/busybox ls $secrets >> lesson.txt; /bin/busybox ls $secrets/statistics >> lesson.txt
echo no > $secrets/statistics/password 2>/dev/null && echo writable >> lesson.txt
echo run >> runs
echo '{\"sources\": [{\"target\": \"data\", \"outcome\": \"placed\", \"version\": \"0123abc\"}]}'
";

#[tokio::test]
async fn program_reads_only_the_secrets_of_its_sources_and_the_copies_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let secrets = home.path().join("material-secrets");
    for (name, file, content) in [
        ("statistics", "username", "git\n"),
        ("statistics", "password", "hunter-2\n"),
        ("statistics", "notes", "n\n"),
        ("other", "password", "x\n"),
    ] {
        std::fs::create_dir_all(secrets.join(name)).unwrap();
        let file = secrets.join(name).join(file);
        std::fs::write(&file, content).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    let image = program("private", "/work", READS_SECRET).await;
    let fleet = open(with_program(home.path(), &image)).await;
    let mut workshop = reads_material("lab-a", "/work");
    workshop.spec.material.as_mut().unwrap().sources[0].secret = Some("statistics".to_owned());
    // The app looks for the secrets, too.
    workshop.spec.command[3].insert_str(0, "exec 2>&1; /bin/busybox ls /etc/workshop-launcher; ");

    let (source, log) = run(&fleet, home.path(), &workshop).await;

    assert_eq!(source.outcome, MaterialOutcome::Placed, "{source:?}");
    assert!(log.contains("git\nhunter-2\nstatistics\npassword\nusername\nmine"), "{log}");
    assert!(log.contains("/etc/workshop-launcher: No such file"), "{log}");
    assert!(!copies_of_secrets(home.path()).exists());
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn missing_secret_stops_no_start() {
    let home = tempfile::tempdir().unwrap();
    let image = program("places", "/work", PLACES).await;
    let fleet = open(with_program(home.path(), &image)).await;
    let mut workshop = reads_material("lab-a", "/work");
    workshop.spec.material.as_mut().unwrap().sources[0].secret = Some("statistics".to_owned());

    let (source, _) = run(&fleet, home.path(), &workshop).await;

    assert_eq!(source.outcome, MaterialOutcome::Placed, "{source:?}");
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn workshop_starts_without_material_if_the_launcher_has_no_image() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;

    let (source, _) = run(&fleet, home.path(), &reads_material("lab-a", "/work")).await;

    assert_eq!(source.outcome, MaterialOutcome::Failed);
    assert!(source.message.is_some_and(|message| message.contains("SERVICE_MATERIAL_IMAGE")));
    assert_eq!(volumes(home.path()).await, [""; 0]);
    clean_up(fleet, ["lab-a"]).await;
}

/// Waits until the program of the Workshop runs, and returns the name of its container.
async fn until_loading(fleet: &ContainerFleet, data_dir: &Path, name: &str) -> String {
    let container = poll(async || {
        let found = containers(data_dir).await.into_iter().find(|container| container.part == Part::Material)?;
        let state = engine().inspect(&found.name).await.unwrap()?;
        state.running.then_some(found.name)
    })
    .await;
    let status = fleet.get(name).await.unwrap().unwrap().status.unwrap_or_default();
    assert_eq!(status.report.start_step, Some(StartStep::LoadingMaterial));
    container
}

/// Creates the file for which the program waits.
async fn let_go(container: &str) {
    let command = bollard::models::ExecConfig {
        cmd: Some(["/bin/sh", "-c", ": > /work/data/go"].map(str::to_owned).into()),
        ..Default::default()
    };
    let created = docker().create_exec(container, command).await.unwrap();
    docker()
        .start_exec(&created.id, Some(bollard::exec::StartExecOptions { detach: true, ..Default::default() }))
        .await
        .unwrap();
}

#[tokio::test]
async fn next_launcher_adopts_a_program_that_runs_and_its_report() {
    let home = tempfile::tempdir().unwrap();
    let image = program("waits", "/work", &PLACES.replace("\ncd ", &format!("\n{WAITS}\ncd "))).await;
    let fleet = open(with_program(home.path(), &image)).await;
    let workshop = with_secret(home.path(), reads_material("lab-a", "/work"));
    fleet.apply(&workshop).await.unwrap();
    let container = until_loading(&fleet, home.path(), "lab-a").await;
    assert!(copies_of_secrets(home.path()).exists());
    fleet.close().await;
    drop(fleet);

    let_go(&container).await;
    TestFleet::new().await.ended(&container).await;
    let fleet = open(with_program(home.path(), &image)).await;

    let (source, log) = run(&fleet, home.path(), &workshop).await;
    assert_eq!(source.outcome, MaterialOutcome::Placed);
    assert!(log.ends_with("\n1"), "it ran once: {log}");
    assert!(!copies_of_secrets(home.path()).exists());
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn workshop_that_is_deleted_while_material_is_loaded_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let image = program("waits", "/work", &PLACES.replace("\ncd ", &format!("\n{WAITS}\ncd "))).await;
    let fleet = open(with_program(home.path(), &image)).await;
    fleet.apply(&with_secret(home.path(), reads_material("lab-a", "/work"))).await.unwrap();
    until_loading(&fleet, home.path(), "lab-a").await;
    assert!(copies_of_secrets(home.path()).exists());

    fleet.delete("lab-a", None).await.unwrap();
    until_empty(&fleet).await;

    assert_eq!(containers(home.path()).await, []);
    assert_eq!(volumes(home.path()).await, [""; 0]);
    assert!(!copies_of_secrets(home.path()).exists());
    fleet.close().await;
}

#[tokio::test]
async fn orphaned_volume_is_removed_at_the_next_start_and_a_foreign_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    fleet.close().await;
    drop(fleet);
    let create = async |name: &str, fleet_id: &str| {
        let labels = [("fleet", fleet_id), ("workshop", "ghost"), ("uid", "uid-of-no-workshop"), ("part", "material")];
        let labels = labels.map(|(name, value)| (format!("workshoplauncher.dev/{name}"), value.to_owned()));
        let request =
            VolumeCreateRequest { name: Some(name.to_owned()), labels: Some(labels.into()), ..Default::default() };
        docker().create_volume(request).await.unwrap();
    };
    let other = TestFleet::new().await;
    let (orphan, foreign) = (other.name("orphan"), other.name("foreign"));
    create(&orphan, &data_dir_id(home.path())).await;
    create(&foreign, &other.id).await;

    let fleet = open(without_internet(home.path())).await;

    until(async || docker().inspect_volume(&orphan).await.is_err()).await;
    docker().inspect_volume(&foreign).await.unwrap();
    docker().remove_volume(&foreign, None::<RemoveVolumeOptions>).await.unwrap();
    fleet.close().await;
}

/// The real program, with an archive of a server in the internet, which `e2e/containers/surroundings.py` answers. The
/// directories of the material are on different file systems.
#[tokio::test]
async fn real_program_places_an_archive_with_and_without_storage() {
    const SHA256: &str = "353a5532bc3fae65bcd722cb273a2317b8ffed25e853efaf3a1a7a5889bb4631";
    let source = json!({
        "kind": "archive", "url": "http://198.51.100.10/material.tar", "sha256": SHA256, "target": "data",
    });
    let material = json!({ "directory": "/work", "sources": [source] });
    let plain = {
        let text = "cd /work/data; /bin/busybox stat -c 'owner %u' . lesson.txt; /bin/busybox ls -a; echo mine >> lesson.txt; \
                    /bin/busybox cat lesson.txt; echo that is all; exec /bin/busybox httpd -f -p 127.0.0.1:$PORT -h .";
        let mut workshop = script("lab-a", text);
        workshop.spec.material = Some(serde_json::from_value::<WorkshopMaterial>(material).unwrap());
        workshop
    };
    for workshop in [plain.clone(), with_storage(plain, "/work")] {
        let home = tempfile::tempdir().unwrap();
        let image = "localhost/workshop-launcher/material:test".to_owned();
        let fleet = open(with_options(settings(home.path()), |options| options.material_image = Some(image))).await;

        let (source, log) = run(&fleet, home.path(), &workshop).await;

        assert_eq!((source.outcome.as_str(), source.version.as_deref()), ("placed", Some(SHA256)), "{source:?}");
        assert_eq!(log, "owner 1000\nowner 1000\n.\n..\nlesson.txt\nlesson\nmine");
        fleet.delete("lab-a", None).await.unwrap();
        until_empty(&fleet).await;
        fleet.delete_volume(VOLUME).await.unwrap();
        fleet.close().await;
    }
}
