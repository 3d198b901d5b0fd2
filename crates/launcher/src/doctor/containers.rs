//! Checks of the container fleet.

use launcher_fleet::doctor::ContainerExamination;

use super::facts::FleetFacts;
use super::report::Finding;
use super::section::Section;
use crate::serve::fleet::container_settings;
use crate::settings::ServeSettings;

pub(super) async fn check(settings: &ServeSettings) -> Section<FleetFacts> {
    let mut section = Section::default();
    let public_url = settings.api.origin().parse();
    // The check of the settings reports an invalid public URL.
    let Ok(public_url) = public_url else { return section };
    let Some(containers) = container_settings(settings, &public_url) else {
        section
            .add([Finding::fail("sidecar image", "SERVICE_SIDECAR_IMAGE is not set: name the image of the sidecars")]);
        return section;
    };
    let examination = match ContainerExamination::new(containers) {
        Ok(examination) => examination,
        Err(error) => {
            section.add([Finding::fail("container fleet", error.to_string())]);
            return section;
        }
    };
    match examination.identity() {
        Ok(identity) => section.facts = FleetFacts { identity, workshops: Some(0), ..FleetFacts::default() },
        Err(error) => section.add([Finding::fail("data directory", error.to_string())]),
    }
    section.add(engine(&examination).await);
    section
}

/// Checks the engine, its storage and the sidecar's image.
async fn engine(examination: &ContainerExamination) -> Vec<Finding> {
    const ENGINE: &str = "container engine";
    let engine = match examination.engine().await {
        Ok(engine) => engine,
        Err(error) => return vec![Finding::fail(ENGINE, error.to_string())],
    };
    let disk = if engine.limits_disk {
        Finding::ok("disk limit", format!("the storage driver {} limits each workshop's disk", engine.storage_driver))
    } else {
        Finding::warn(
            "disk limit",
            format!(
                "the engine cannot limit a workshop's disk with the storage driver {}: one workshop can fill the disk of \
                 all. Use Docker with overlay2 on XFS with project quotas (mount option pquota), and restart the launcher",
                engine.storage_driver
            ),
        )
    };
    let image = match examination.has_sidecar_image().await {
        Ok(true) => Finding::ok("sidecar image", "the engine has it"),
        Ok(false) => Finding::warn("sidecar image", "the engine does not have it: the first launch pulls it"),
        Err(error) => Finding::fail("sidecar image", error.to_string()),
    };
    let material = match examination.has_material_image().await {
        Ok(Some(true)) => Finding::ok("material image", "the engine has it"),
        Ok(Some(false)) => Finding::warn("material image", "the engine does not have it: the first launch pulls it"),
        Ok(None) => Finding::ok("material image", "not set: workshops start without course material"),
        Err(error) => Finding::fail("material image", error.to_string()),
    };
    let (mib, cpus) = (engine.memory_bytes / (1024 * 1024), engine.cpus);
    let mut findings =
        vec![Finding::ok(ENGINE, format!("{}, {mib} MiB of memory, {cpus} CPUs", engine.name)), disk, image, material];
    if engine.interrupts_network {
        findings.push(Finding::warn(
            "network",
            "each start or end of a workshop can interrupt the network of the others for half a minute. Write the line \
             net.ipv4.conf.all.arp_notify = 1 into a file in /etc/sysctl.d, and run sysctl --system",
        ));
    }
    findings
}
