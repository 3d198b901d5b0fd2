//! Settings of a template, the content that an admin writes, and the entry of the catalog.

use std::collections::BTreeMap;
use std::fmt::Display;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::email::EmailAddress;
use crate::local_path::LocalPath;
use crate::quantity::Quantity;
use crate::template::codecs::{
    Command, Cpu, Description, Environment, Image, Memory, MountPath, Name, PodTemplate, Port, SECONDS, Seconds,
    StartPath, VolumeSize, Words, is_mount_path,
};
use crate::template::field::{Audience, Codec, Errors, FieldError, JsonObject, json_object, refuse_unknown};
use crate::template::listing::Listing;
use crate::template::material::Material;
use crate::template::parameter::{self, Parameter, Parameters};
use crate::template::rule::FieldRule;
use crate::text_enum::text_enum;

const LIFETIME_SECONDS: i64 = 7200;
const EXTENSION_SECONDS: i64 = 3600;
const MAX_LIFETIME_SECONDS: i64 = 28_800;

json_object! {
    /// Resources of the container, as Kubernetes quantities. A request cannot exceed its limit.
    pub struct Resources {
        /// CPU request: reserved for the container.
        cpu_request: Quantity = nullable(Cpu, "100m".into()),
        /// CPU limit.
        cpu_limit: Quantity = nullable(Cpu, "2".into()),
        /// Memory request: reserved for the container.
        memory_request: Quantity = nullable(Memory, "256Mi".into()),
        /// Memory limit. A container that exceeds it is killed.
        memory_limit: Quantity = nullable(Memory, "2Gi".into()),
    }
}

impl Resources {
    /// Reads resources. Absent ones get their defaults. `None` if one is wrong.
    #[must_use]
    pub fn of_json(json: &Value) -> Option<Self> {
        let mut errors = Errors::default();
        let resources = <Self as Codec>::read(json, "", &mut errors);
        errors.outcome(resources).ok()
    }

    /// True if all resources are equal in value.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        let Self { cpu_request, cpu_limit, memory_request, memory_limit } = self;
        cpu_request.compare(&other.cpu_request).is_eq()
            && cpu_limit.compare(&other.cpu_limit).is_eq()
            && memory_request.compare(&other.memory_request).is_eq()
            && memory_limit.compare(&other.memory_limit).is_eq()
    }

    /// Checks that no request exceeds its limit. `at` is the place of the resources.
    pub(super) fn check(&self, at: &str, errors: &mut Errors) {
        let Self { cpu_request, cpu_limit, memory_request, memory_limit } = self;
        let pairs = [
            ("cpu_request", cpu_request, "cpu_limit", cpu_limit, FieldRule::CpuRequestTooLarge),
            ("memory_request", memory_request, "memory_limit", memory_limit, FieldRule::MemoryRequestTooLarge),
        ];
        for (request, requested, limit, limited, rule) in pairs {
            if !errors.has(&format!("{at}/{request}")) && !errors.has(&format!("{at}/{limit}")) {
                errors.check(requested.compare(limited).is_le(), &format!("{at}/{request}"), rule);
            }
        }
    }
}

json_object! {
    /// Validated settings of a template. Each instance keeps a copy, which is stored once for each content. Only fields
    /// that a workshop needs are settings: the presentation in the catalog is in `Listing`, because a changed tag must not
    /// create another stored copy of the settings.
    pub struct TemplateSettings {
        /// Name of the template, one line.
        name: String = required(Name),
        /// Description in Markdown.
        description: String = defaulted(Description, "".into()),
        /// The kind of app. It determines the default port and the settings for standard images.
        app_type: AppType = required(AppType),
        /// Reference of the image.
        image: String = required(Image),
        /// Port on which the app listens; not 8080 and 8081, which the sidecar uses.
        port: u16 = computed(
            Port,
            FieldRule::PortRequired,
            &format!("Default: {}", AppType::defaults(AppType::default_port))
        ),
        /// Path and query of the app's first page, as in /vnc.html?autoconnect=1. null: the path /. Responses to callers
        /// who are not admins have null.
        start_path: Option<LocalPath> = optional_text(StartPath),
        /// true: pages of the app that open in browser tabs of their own are shown there without the bar with the time left.
        plain_tabs: bool = defaulted(bool, false.into()),
        /// Replaces the image's entry point if not empty. Each word has at most 4,096 bytes. $(PORT) stands for the app's
        /// port, $(HOST) and $(ORIGIN) for the workshop's host and origin. Responses to callers who are not admins have an
        /// empty list.
        command: Vec<String> = defaulted(Command, json!([])),
        /// Replaces the image's arguments if not empty. Each word has at most 4,096 bytes. $(PORT) stands for the app's
        /// port, $(HOST) and $(ORIGIN) for the workshop's host and origin. Responses to callers who are not admins have an
        /// empty list.
        args: Vec<String> = defaulted(Words, json!([])),
        /// Environment of the app. Each value has at most 32 KiB. In values, $(PORT) stands for the app's port, $(HOST) and
        /// $(ORIGIN) for the workshop's host and origin. Responses to callers who are not admins have an empty object.
        env: BTreeMap<String, String> = defaulted(Environment, json!({})),
        /// Resources of the container, as Kubernetes quantities. A request cannot exceed its limit.
        resources: Resources = defaulted(Resources, json!({})),
        /// Pod security of the container. baseline allows root in the container, which standard RStudio images need.
        security_profile: SecurityProfile = defaulted(SecurityProfile, SecurityProfile::default().as_str().into()),
        /// Partial Kubernetes PodTemplateSpec of the pod; at most 32 KiB as JSON. It can set only the fields and names that
        /// docs/pod-templates.md lists. Only Kubernetes uses it. Responses to callers who are not admins have null.
        pod_template: Option<JsonObject> = optional(PodTemplate),
        /// Storage of the user's files. null: the files end with the workshop, and on a cluster also with a crash of the
        /// app.
        storage: Option<Storage> = optional(Storage),
        /// Course material: files that are in the workshop's directory when it opens. A failed download does not fail the
        /// launch. Responses to callers who are not admins have null.
        material: Option<Material> = optional(Material),
        /// Values that a launch asks for. They become environment variables of the app. Their names differ from each other,
        /// from those in `env`, and from `PORT`, `WORKSHOP_HOST`, `WORKSHOP_ORIGIN` and `WORKSHOP_URL`.
        parameters: Vec<Parameter> = defaulted(Parameters, json!([])),
        /// Time from ready to the first expiry; at most max_lifetime_seconds.
        lifetime_seconds: u32 = filled(Seconds, &format!("Default: {LIFETIME_SECONDS}.")),
        /// Maximum that one extension adds; at most max_lifetime_seconds.
        extension_seconds: u32 = filled(Seconds, &format!("Default: {EXTENSION_SECONDS}.")),
        /// Maximum time from ready to the expiry, with all extensions.
        max_lifetime_seconds: u32 = filled(Seconds, &format!("Default: {MAX_LIFETIME_SECONDS}.")),
    }
}

impl TemplateSettings {
    /// True if the user's files outlive the workshop.
    #[must_use]
    pub fn keeps_files(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.kind.is_kept())
    }

    /// Returns the settings without those that may contain addresses and keys. Callers who do not manage templates get
    /// only the settings that they need to choose a template.
    #[must_use]
    pub fn public(self) -> Self {
        let (command, args, env) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { start_path: None, command, args, env, pod_template: None, material: None, ..self }
    }

    /// Completes the settings, and checks the rules that need more than one field.
    fn check(&mut self, errors: &mut Errors) {
        self.resources.check("/resources", errors);
        if !errors.has("/max_lifetime_seconds") {
            let is_less = self.lifetime_seconds <= self.max_lifetime_seconds || errors.has("/lifetime_seconds");
            errors.check(is_less, "/max_lifetime_seconds", FieldRule::MaxLifetimeTooShort);
            let is_less = self.extension_seconds <= self.max_lifetime_seconds || errors.has("/extension_seconds");
            errors.check(is_less, "/extension_seconds", FieldRule::ExtensionTooLong);
        }
        if let Some(material) = &self.material {
            material.check(self.storage.as_ref(), errors);
        }
        parameter::check(&mut self.parameters, &self.env, errors);
    }
}

/// Content of a template: what an admin writes. Serializes as the object that reads as this content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemplateContent {
    /// Settings that each launched instance copies.
    #[serde(flatten)]
    pub settings: TemplateSettings,
    /// True when users can launch the template.
    pub active: bool,
    /// Presentation in the catalog, and the slug of its link.
    #[serde(flatten)]
    pub listing: Listing,
}

/// Name of the field that is neither a setting nor part of the listing.
const ACTIVE: &str = "active";

impl TemplateContent {
    /// Reads the content of a template from the body of a request, an entry of the seed file, or a form. Absent fields
    /// get their defaults. Unknown fields are errors: with a mistyped `memroy_limit` the default would apply silently.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn read(body: &JsonObject) -> Result<Self, Vec<FieldError>> {
        let mut errors = Errors::default();
        let fields: Vec<&str> = Self::fields().collect();
        refuse_unknown(body, "", &mut errors, &fields);
        let known = body.clone().into_iter().filter(|(name, _)| fields.contains(&&**name));
        let (listing, mut settings): (JsonObject, JsonObject) =
            known.partition(|(name, _)| Listing::FIELDS.contains(&&**name));
        let active = settings.remove(ACTIVE).unwrap_or(true.into());
        fill(&mut settings);
        let mut settings = TemplateSettings::read(&settings.into(), "", &mut errors);
        if let Some(settings) = &mut settings {
            settings.check(&mut errors);
        }
        let listing = Listing::read(&listing.into(), "", &mut errors);
        let active = bool::read(&active, "/active", &mut errors);
        match (settings, listing, active) {
            (Some(settings), Some(listing), Some(active)) if errors.0.is_empty() => {
                Ok(Self { settings, listing, active })
            }
            _ => {
                errors.0.sort_by_key(|error| place(&error.pointer, &fields));
                Err(errors.0)
            }
        }
    }

    /// Returns the names of the fields, in the order of the API.
    pub fn fields() -> impl Iterator<Item = &'static str> {
        TemplateSettings::FIELDS.iter().copied().chain([ACTIVE]).chain(Listing::FIELDS.iter().copied())
    }

    /// Returns the object that reads as this content.
    #[must_use]
    pub fn to_json(&self) -> JsonObject {
        if let Value::Object(object) = json!(self) { object } else { JsonObject::new() }
    }

    /// Returns the JSON schema (2020-12) of the content. The descriptions state the rules that a schema cannot express:
    /// which duration or resource must not exceed another one, and the maximum length of words and values in bytes.
    #[must_use]
    pub fn schema(audience: Audience) -> Value {
        let mut schema = TemplateSettings::schema(audience);
        let listing = Listing::schema(audience);
        let mut active = json!({ "type": "boolean", "description": "True if users can launch it." });
        if audience == Audience::Request {
            active["default"] = true.into();
        }
        if let (Some(properties), Some(listed)) =
            (schema["properties"].as_object_mut(), listing["properties"].as_object())
        {
            properties.extend(listed.clone());
            properties.insert(ACTIVE.to_owned(), active);
        }
        if audience == Audience::Response
            && let (Some(required), Some(listed)) = (schema["required"].as_array_mut(), listing["required"].as_array())
        {
            required.extend(listed.clone());
            required.push(ACTIVE.into());
        }
        schema
    }
}

impl From<&Template> for TemplateContent {
    fn from(template: &Template) -> Self {
        let Template { settings, listing, active, .. } = template.clone();
        Self { settings, listing, active }
    }
}

/// Returns the place of an error in the list: by field, and by item of the field's list.
fn place(pointer: &str, fields: &[&str]) -> (Option<usize>, Option<usize>) {
    let mut segments = pointer.split('/').skip(1);
    let field = segments.next().and_then(|name| fields.iter().position(|field| *field == name));
    (field, segments.next().and_then(|item| item.parse().ok()))
}

/// Adds the defaults that depend on other fields. The defaults of lifetime and extension are at most the maximum
/// lifetime. The default of the maximum lifetime is at least the lifetime.
fn fill(body: &mut JsonObject) {
    let app_type = body.get("app_type").and_then(Value::as_str).and_then(AppType::parse).unwrap_or(AppType::Notebook);
    if let Some(port) = app_type.default_port() {
        fill_one(body, "port", port.into());
    }
    let seconds = |name: &str| body.get(name).and_then(Value::as_i64).filter(|seconds| SECONDS.contains(seconds));
    let lifetime = seconds("lifetime_seconds").unwrap_or(0);
    let longest = seconds("max_lifetime_seconds").unwrap_or(MAX_LIFETIME_SECONDS.max(lifetime));
    fill_one(body, "lifetime_seconds", LIFETIME_SECONDS.min(longest).into());
    fill_one(body, "extension_seconds", EXTENSION_SECONDS.min(longest).into());
    fill_one(body, "max_lifetime_seconds", longest.into());
    let home = app_type.home().map(str::to_owned);
    let mut directory = home.clone();
    if let Some(Value::Object(storage)) = body.get_mut("storage") {
        fill_path(storage, "path", home);
        let path = storage.get("path").and_then(Value::as_str).map(MountPath::normal);
        directory = path.filter(|path| is_mount_path(path)).map(str::to_owned).or(directory);
    }
    if let Some(Value::Object(material)) = body.get_mut("material") {
        fill_path(material, "directory", directory);
    }
}

fn fill_one(object: &mut JsonObject, name: &str, default: Value) {
    if object.get(name).is_none_or(Value::is_null) {
        object.insert(name.to_owned(), default);
    }
}

/// Replaces a blank path by the default, or removes it if there is none.
fn fill_path(object: &mut JsonObject, name: &str, default: Option<String>) {
    if object.get(name).and_then(Value::as_str).is_some_and(|path| path.trim().is_empty()) {
        object.remove(name);
    }
    if let Some(default) = default {
        fill_one(object, name, default.into());
    }
}

/// A shared catalog entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Identifier that sorts by creation time (UUID version 7).
    pub template_id: Uuid,
    /// Class to which the template belongs. `None`: it is in the shared catalog. It never changes.
    pub class_id: Option<Uuid>,
    /// Settings that each launched instance copies.
    pub settings: TemplateSettings,
    /// Presentation in the catalog, and the slug of its link. Instances do not copy it.
    pub listing: Listing,
    /// True when users can launch the template. The catalog shows it to them unless it is unlisted.
    pub active: bool,
    /// Version of the template: 1 at creation, incremented at each change.
    pub version: i64,
    /// The admin who created the template. Informational: it grants no rights.
    pub created_by: EmailAddress,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl Template {
    /// Returns a new template with this content.
    #[must_use]
    pub fn new(
        template_id: Uuid,
        class_id: Option<Uuid>,
        content: TemplateContent,
        created_by: EmailAddress,
        at: Timestamp,
    ) -> Self {
        let TemplateContent { settings, listing, active } = content;
        let (created_at, updated_at) = (at, at);
        Self { template_id, class_id, settings, listing, active, version: 1, created_by, created_at, updated_at }
    }

    /// Returns the icon: the chosen one, or the one of the kind of app.
    #[must_use]
    pub fn icon(&self) -> Icon {
        self.listing.icon.unwrap_or_else(|| Icon::of_app_type(self.settings.app_type))
    }
}

text_enum! {
    /// Kind of app. It determines the default port, and the arguments and variables that adapt a stock image to the
    /// sidecar.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum AppType {
        /// RStudio Server.
        Rstudio = "rstudio",
        /// Jupyter: notebook or lab.
        Notebook = "notebook",
        /// Anything else that speaks HTTP on one port.
        Custom = "custom",
    }
}

impl AppType {
    /// Describes the defaults of a field, by kind of app.
    pub(super) fn defaults<T: Display>(default: fn(Self) -> Option<T>) -> String {
        let (mut defaults, mut required) = (Vec::new(), Vec::new());
        for kind in Self::ALL {
            match default(kind) {
                Some(value) => defaults.push(format!("{value} for {}", kind.as_str())),
                None => required.push(kind.as_str()),
            }
        }
        format!("{}; required for {}.", defaults.join(", "), required.join(", "))
    }

    /// Returns the port on which the stock image of this kind of app listens; `None` for `custom`.
    #[must_use]
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Rstudio => Some(8787),
            Self::Notebook => Some(8888),
            Self::Custom => None,
        }
    }

    /// Returns the home directory of the user in the stock image of this kind of app; `None` for `custom`.
    #[must_use]
    pub fn home(self) -> Option<&'static str> {
        match self {
            Self::Rstudio => Some("/home/rstudio"),
            Self::Notebook => Some("/home/jovyan"),
            Self::Custom => None,
        }
    }
}

text_enum! {
    /// Icon that the catalog shows for a template. The pages contain all icons, so that a template cannot name an
    /// external image.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Icon {
        /// Notebook.
        Notebook = "notebook",
        /// Bell curve or bars.
        Statistics = "statistics",
        /// Source code.
        Code = "code",
        /// Command line.
        Terminal = "terminal",
        /// Web page.
        Web = "web",
        /// Database.
        Database = "database",
        /// Line chart.
        Chart = "chart",
        /// Globe, for geography and maps.
        Globe = "globe",
        /// Book.
        Book = "book",
        /// Laboratory flask.
        Flask = "flask",
    }
}

impl Icon {
    /// Returns the icon of a template that names none.
    #[must_use]
    pub fn of_app_type(app_type: AppType) -> Self {
        match app_type {
            AppType::Rstudio => Self::Statistics,
            AppType::Notebook => Self::Notebook,
            AppType::Custom => Self::Web,
        }
    }
}

text_enum! {
    /// Security profile of a workshop's container.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum SecurityProfile {
        /// The container runs without privileges and not as root: Pod Security `restricted`.
        #[default]
        Restricted = "restricted",
        /// The container may run as root, which stock RStudio images need: Pod Security `baseline`.
        Baseline = "baseline",
    }
}

text_enum! {
    /// Lifetime of the files, and the launches that share them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum StorageKind {
        /// No volume: the files outlive a crash of the app, and end with the workshop.
        Workshop = "workshop",
        /// One volume per user and template.
        Kept = "kept",
        /// One volume per user. All templates with this kind share it.
        Home = "home",
    }
}

impl StorageKind {
    /// True if the files are in a volume that outlives the workshop.
    #[must_use]
    pub fn is_kept(self) -> bool {
        match self {
            Self::Kept | Self::Home => true,
            Self::Workshop => false,
        }
    }
}

text_enum! {
    /// Effect of the expiry of a workshop.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum AtExpiry {
        /// The expiry ends the workshop.
        #[default]
        End = "end",
        /// The expiry suspends the workshop: its owner can resume it.
        Suspend = "suspend",
    }
}

json_object! {
    /// Storage of the user's files: a directory that outlives a crash of the app, or the workshop.
    pub struct Storage {
        /// kept: one volume per user and template, which outlives the workshop. home: one volume per user, for all
        /// templates with this kind. workshop: no volume; the files outlive a crash of the app, and end with the workshop.
        kind: StorageKind = required(StorageKind),
        /// Size of a new volume, as a Kubernetes quantity of at least 1Mi. An existing volume keeps its size. Not used for
        /// the kind workshop.
        size: Quantity = nullable(VolumeSize, "1Gi".into()),
        /// Directory of the app with the files, without `..`, and not below a directory of the system.
        path: String = computed(
            MountPath,
            FieldRule::StoragePathRequired,
            &format!("Default: {}", AppType::defaults(AppType::home))
        ),
        /// Effect of the expiry. end: the workshop ends, and the next launch has its files. suspend: the workshop is
        /// suspended, and its owner can resume it.
        at_expiry: AtExpiry = defaulted(AtExpiry, "end".into()),
    }
}
