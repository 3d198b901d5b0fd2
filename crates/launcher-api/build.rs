//! Compresses the two files of Swagger UI that the API's reference needs. The package has many more files.

use std::error::Error;
use std::fs::File;
use std::io::{Cursor, copy};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

const FILES: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let target = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for file in FILES {
        let end = format!("/dist/{file}");
        let found = archive.file_names().filter_map(Result::ok).find(|name| name.ends_with(&end));
        let name = found.ok_or_else(|| format!("Swagger UI has no file {end}"))?.into_owned();
        let mut compressed = GzEncoder::new(File::create(target.join(format!("{file}.gz")))?, Compression::best());
        copy(&mut archive.by_name(&name)?, &mut compressed)?;
        compressed.finish()?;
    }
    Ok(())
}
