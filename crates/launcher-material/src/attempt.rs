//! Marker file of an attempt, which exists while the program runs. If an earlier attempt was killed, for example at a
//! memory limit, the next one finds this file, and gives up. Without it, the kubelet would run a killed program again and
//! again, because an app starts only after the program has ended with success.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use launcher_domain::material_config::{MATERIAL_ATTEMPT_VARIABLE, MaterialConfig};
use launcher_domain::material_report::MaterialReport;

const KILLED: &str = "An earlier attempt was killed, perhaps because it needed too much memory: choose a smaller source, or a \
                      folder of it.";

/// Runs `run`, unless the marker file of an earlier attempt exists. Without a path, or if the file cannot be created, it
/// runs anyway.
pub fn once(
    marker: Option<&Path>,
    config: &MaterialConfig,
    run: impl FnOnce(&MaterialConfig) -> MaterialReport,
) -> MaterialReport {
    let Some(marker) = marker else { return run(config) };
    let report = match File::create_new(marker) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            MaterialReport::all_failed(config.sources.iter().map(|source| source.target.as_str()), KILLED)
        }
        Ok(_) | Err(_) => run(config),
    };
    // After a restart of the node, the kubelet runs the program again, in the same pod.
    let _ = std::fs::remove_file(marker);
    report
}

/// Returns the path of the marker file, if one is set.
#[must_use]
pub fn marker() -> Option<PathBuf> {
    std::env::var_os(MATERIAL_ATTEMPT_VARIABLE).map(PathBuf::from)
}
