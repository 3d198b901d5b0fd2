//! Course material in the spec and the status of a Workshop.
#![expect(unreachable_pub, reason = "KubeSchema derives a copy of each struct inside a function")]

use std::collections::BTreeSet;

use kube::KubeSchema;
use launcher_domain::{Material, MaterialConfig, MaterialKind, MaterialReport, MaterialSource};
use serde::{Deserialize, Serialize};

/// Course material: files that are in the workshop's directory when it opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopMaterial {
    /// Directory of the app in which each source has its own directory. With storage, the path of the storage; with a
    /// crash-safe directory, this directory. The local fleet uses the working directory of the app.
    #[schemars(length(min = 2, max = 255), regex(pattern = "^/[^/:,]"))]
    pub directory: String,
    /// Sources.
    #[schemars(length(min = 1, max = 6))]
    pub sources: Vec<WorkshopMaterialSource>,
}

/// Source of course material. Its files appear in the directory `target`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopMaterialSource {
    /// Kind of the source: git or archive.
    #[schemars(extend("enum" = MaterialKind::ALL.map(MaterialKind::as_str)))]
    pub kind: String,
    /// URL with the scheme http or https, without user information.
    #[schemars(length(min = 1, max = 2048), regex(pattern = "^[Hh][Tt][Tt][Pp][Ss]?://"))]
    pub url: String,
    /// Branch, tag or full commit id of a repository. Without it, the default branch.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub reference: Option<String>,
    /// SHA-256 of an archive, in 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 64, max = 64))]
    pub sha256: Option<String>,
    /// Relative path inside of the source: only files below it are placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub folder: Option<String>,
    /// Name of the secret with the user name and the password for the server of a private source. On a cluster, it is the
    /// Secret `material-NAME` with the keys `username` and `password`. Requires a URL with https.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"))]
    pub secret: Option<String>,
    /// Name of the directory that gets the files.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$"))]
    pub target: String,
}

impl WorkshopMaterial {
    /// Returns the material of a template; `None` without sources.
    pub(crate) fn of(material: &Material) -> Option<Self> {
        let sources: Vec<_> = material.sources.iter().cloned().map(WorkshopMaterialSource::from).collect();
        (!sources.is_empty()).then(|| Self { directory: material.directory.clone(), sources })
    }

    /// Returns the names of the secrets of private sources.
    #[must_use]
    pub fn secrets(&self) -> BTreeSet<&str> {
        self.sources.iter().filter_map(|source| source.secret.as_deref()).collect()
    }

    /// Returns the configuration of the program that places the material; `None` if the kind of a source is unknown.
    /// `secrets` is the directory with the secrets of private sources.
    #[must_use]
    pub fn config(&self, deadline_seconds: u32, report: Option<&str>, secrets: &str) -> Option<MaterialConfig> {
        let sources = self.sources.iter().map(WorkshopMaterialSource::source).collect::<Option<_>>()?;
        Some(MaterialConfig {
            directory: self.directory.clone(),
            sources,
            deadline_seconds,
            report: report.map(str::to_owned),
            secrets: (!self.secrets().is_empty()).then(|| secrets.to_owned()),
        })
    }

    /// Parses the output of the program that has placed the material; `None` if it has no report. Names of files in it come from
    /// the source and from the user, so the report has bounded texts, and only the targets of the Workshop.
    #[must_use]
    pub fn parse_report(&self, output: &str) -> Option<MaterialReport> {
        let mut report = MaterialReport::parse(output)?;
        report.sources.retain(|source| self.sources.iter().any(|known| known.target == source.target));
        Some(report)
    }

    /// Returns the report that no source could be placed, for this reason.
    #[must_use]
    pub fn failed(&self, message: &str) -> MaterialReport {
        MaterialReport::all_failed(self.sources.iter().map(|source| source.target.as_str()), message)
    }

    /// True if all sources are valid, and no two have the same target.
    pub(crate) fn has_valid_sources(&self) -> bool {
        let is_valid = |source: &WorkshopMaterialSource| source.source().is_some_and(|it| it.broken_rules().is_empty());
        let is_first = |place: usize, target: &str| {
            !self.sources.iter().take(place).any(|earlier| earlier.target.eq_ignore_ascii_case(target))
        };
        !self.sources.is_empty()
            && self.sources.iter().enumerate().all(|(place, one)| is_valid(one) && is_first(place, &one.target))
    }
}

impl WorkshopMaterialSource {
    /// Returns the source in the domain's type; `None` if its kind is unknown.
    #[must_use]
    pub fn source(&self) -> Option<MaterialSource> {
        let Self { kind, url, reference, sha256, folder, secret, target } = self.clone();
        Some(MaterialSource { kind: MaterialKind::parse(&kind)?, url, reference, sha256, folder, secret, target })
    }
}

impl From<MaterialSource> for WorkshopMaterialSource {
    fn from(source: MaterialSource) -> Self {
        let MaterialSource { kind, url, reference, sha256, folder, secret, target } = source;
        Self { kind: kind.as_str().to_owned(), url, reference, sha256, folder, secret, target }
    }
}
