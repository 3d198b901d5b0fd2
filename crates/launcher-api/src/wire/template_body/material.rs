//! The schema of course material as admins send it.

use launcher_domain::MaterialKind;
use launcher_domain::template::MAX_MATERIAL_SOURCES;
use serde_json::{Value, json};

const URL: &str = "^[Hh][Tt][Tt][Pp][Ss]?://[^@#\\\\]+$";
const SECRET: &str = "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$";
const TARGET: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";

/// Returns the schema of the field `material`.
pub(super) fn material() -> Value {
    json!({
        "type": ["object", "null"], "additionalProperties": false,
        "description": "Course material: files that are in the workshop's directory when it opens. A failed download does \
                        not fail the launch.",
        "properties": {
            "directory": {
                "type": ["string", "null"], "maxLength": 255, "pattern": "^(/[^:,]+)?$",
                "description": "Directory of the app in which each source has its own directory. Default: the path of \
                                the storage, otherwise /home/rstudio for rstudio, /home/jovyan for notebook. Required \
                                for custom without storage. With storage, only its path is allowed.",
            },
            "sources": {
                "type": "array", "maxItems": MAX_MATERIAL_SOURCES, "items": source(),
                "description": "Sources, with different targets. At least one, unless allowed_repositories has an entry.",
            },
            "allowed_repositories": {
                "type": "array", "maxItems": 10,
                "items": { "type": "string", "maxLength": 2048, "pattern": "^[Hh][Tt][Tt][Pp][Ss]://[^@#?\\\\]+$" },
                "description": "Prefixes of the URLs of repositories that a link can name, with the scheme https. A \
                                prefix ends at a whole segment of the path.",
                "examples": [["https://git.example.org/statistics/"]],
            },
        },
        "examples": [{ "sources": [{
            "kind": "git", "url": "https://git.example.org/statistics/101.git", "ref": "main", "target": "statistics-101",
        }] }],
    })
}

fn source() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["kind", "url", "target"],
        "properties": {
            "kind": {
                "type": "string", "enum": MaterialKind::ALL.map(MaterialKind::as_str),
                "description": "git: a repository. archive: a zip, tar or tar.gz file.",
            },
            "url": {
                "type": "string", "minLength": 8, "maxLength": 2048, "pattern": URL,
                "description": "URL with the scheme http or https, without user information.",
            },
            "ref": {
                "type": ["string", "null"], "maxLength": 255,
                "description": "Branch, tag or full commit id of a repository. Default: the repository's default branch. \
                                Not for archives.",
            },
            "sha256": {
                "type": ["string", "null"], "pattern": "^([0-9A-Fa-f]{64})?$",
                "description": "SHA-256 of an archive. Required for archives, and not for repositories.",
            },
            "folder": {
                "type": ["string", "null"], "maxLength": 255,
                "description": "Relative path inside of the source, without `..`: only files below it are placed.",
            },
            "secret": {
                "type": ["string", "null"], "pattern": SECRET,
                "description": "Name of the secret with the user name and the password for the server of a private \
                                source, whose URL begins with https. An administrator of the installation creates it. \
                                Never the password itself.",
            },
            "target": {
                "type": "string", "minLength": 1, "maxLength": 64, "pattern": TARGET,
                "description": "Name of the directory that gets the files.",
            },
        },
    })
}
