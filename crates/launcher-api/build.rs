//! Compresses the files that the program contains: the two files of Swagger UI that the API's reference needs (the package
//! has many more), and the texts of all languages.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{Cursor, copy};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

const SWAGGER_FILES: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];
const LOCALES: &str = "locales";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LOCALES}");
    let target = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    compress_swagger(&target)?;
    compress_locales(&target)
}

fn compress_swagger(target: &Path) -> Result<(), Box<dyn Error>> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for file in SWAGGER_FILES {
        let end = format!("/dist/{file}");
        let found = archive.file_names().filter_map(Result::ok).find(|name| name.ends_with(&end));
        let name = found.ok_or_else(|| format!("Swagger UI has no file {end}"))?.into_owned();
        let mut compressed = gzip(target, file)?;
        copy(&mut archive.by_name(&name)?, &mut compressed)?;
        compressed.finish()?;
    }
    Ok(())
}

/// File with the texts of the sidecar, whose build reads it.
const OF_SIDECAR: &str = "sidecar.ftl";

/// Writes the files of all languages as JSON: the texts by file name, by language code. Equal files give equal bytes.
fn compress_locales(target: &Path) -> Result<(), Box<dyn Error>> {
    let mut locales = BTreeMap::new();
    for (code, folder) in entries(Path::new(LOCALES))? {
        let files = entries(&folder)?.into_iter().filter(|(name, _)| name != OF_SIDECAR);
        let texts: Result<BTreeMap<_, _>, _> =
            files.map(|(name, file)| Ok((name, fs::read_to_string(file)?))).collect();
        locales.insert(code, texts.map_err(|error: std::io::Error| format!("{}: {error}", folder.display()))?);
    }
    let mut compressed = gzip(target, "locales.json")?;
    serde_json::to_writer(&mut compressed, &locales)?;
    compressed.finish()?;
    Ok(())
}

/// Returns names and paths of the entries of a folder.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    entries
        .map(|entry| entry.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())))
        .map(|entry| Ok(entry?))
        .collect()
}

fn gzip(target: &Path, name: &str) -> std::io::Result<GzEncoder<File>> {
    Ok(GzEncoder::new(File::create(target.join(format!("{name}.gz")))?, Compression::best()))
}
