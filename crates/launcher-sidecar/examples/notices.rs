//! Writes the notices of the chart's front to the folder that the argument names: one file for each notice and
//! language. The chart replaces `LAUNCHER_URL` by the URL of the launcher, and `WORKSHOP_NAME` by the name in the host.

use std::path::PathBuf;

use launcher_sidecar::notice::of_edge_proxy;

fn main() -> Result<(), String> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("name the folder to write to")?;
    for (file, html) in of_edge_proxy() {
        std::fs::write(folder.join(&file), html).map_err(|error| format!("{file} cannot be written: {error}"))?;
    }
    Ok(())
}
