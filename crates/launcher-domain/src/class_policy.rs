//! The policy of a class: which images, sizes and profiles its templates may have. Admins set it in the content of the class.

use crate::access::Caller;
use crate::class::ClassContent;
use crate::template::codecs::{MAX_IMAGE, Name, is_image, list_codec, text_codec};
use crate::template::field::{Errors, FieldError};
use crate::template::rule::FieldRule;
use crate::template::{MaterialSource, SecurityProfile, Sizes, StorageKind, TemplateSettings};

/// Maximum number of entries of a list in the policy.
const MAX_ENTRIES: usize = 50;

text_codec! {
    /// An image, with or without tag or digest, or the beginning of images with a final `*`.
    ImagePattern, { "type": "string", "minLength": 1, "maxLength": MAX_IMAGE,
                    "pattern": "^\\s*[A-Za-z0-9]([A-Za-z0-9._/:@+-]*[/:@][*]|[A-Za-z0-9._/:@+-]*)\\s*$",
                    "examples": ["quay.io/jupyter/*"] },
    ImagePattern if not |pattern| {
        let start = pattern.strip_suffix('*').unwrap_or(pattern);
        is_image(start) && (start == pattern || start.ends_with(['/', ':', '@']))
    }
}

list_codec! {
    /// Images that a class allows.
    ImagePatterns of ImagePattern, MAX_ENTRIES, PolicyCount
}

list_codec! {
    /// Names of sizes that a class allows.
    SizeNames of Name, MAX_ENTRIES, PolicyCount
}

impl ClassContent {
    /// True if templates of the class may use this image.
    #[must_use]
    pub fn allows_image(&self, image: &str) -> bool {
        self.allowed_images.is_empty() || self.allowed_images.iter().any(|pattern| covers(pattern, image))
    }

    /// Returns why the class does not allow a template with these settings. It holds for each template of the class, for
    /// teachers and admins, at a change and at a launch.
    #[must_use]
    pub fn refusals(&self, settings: &TemplateSettings, sizes: &Sizes) -> Vec<FieldError> {
        let mut errors = Errors::default();
        let images = self.allowed_images.join(", ");
        errors.check(self.allows_image(&settings.image), "/image", FieldRule::ImageNotAllowed { images });
        let is_sized = sizes.of(&settings.resources).is_some_and(|size| self.allowed_sizes.contains(&size.name));
        let sizes = self.allowed_sizes.join(", ");
        let is_allowed = self.allowed_sizes.is_empty() || is_sized;
        errors.check(is_allowed, "/resources", FieldRule::SizeNotAllowed { sizes });
        errors.0
    }

    /// Returns the errors of a template that the caller writes in a class; `None` if the content of the class is not valid yet.
    /// The volume that all templates of a person share would give a teacher the files of other workshops. A teacher may keep but
    /// not set a pod template, which may use objects of the cluster, the profile `baseline` unless the class allows it, and a
    /// source with a secret, whose password would reach an address of the teacher.
    #[must_use]
    pub fn template_errors(
        class: Option<&Self>,
        caller: &Caller,
        before: Option<&TemplateSettings>,
        settings: &TemplateSettings,
        sizes: &Sizes,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if settings.storage.as_ref().is_some_and(|storage| storage.kind == StorageKind::Home) {
            errors.push(FieldError::new("/storage/kind", FieldRule::ClassHome));
        }
        errors.extend(class.map(|class| class.refusals(settings, sizes)).unwrap_or_default());
        if caller.is_admin() {
            return errors;
        }
        let mut refuse = |is_new: bool, pointer: String| {
            errors.extend(is_new.then(|| FieldError::new(pointer, FieldRule::OnlyAdmins)));
        };
        let kept = before.and_then(|before| before.pod_template.as_ref());
        refuse(settings.pod_template.is_some() && settings.pod_template.as_ref() != kept, "/pod_template".to_owned());
        let is_baseline = |settings: &TemplateSettings| settings.security_profile == SecurityProfile::Baseline;
        let may_be_baseline = class.is_some_and(|class| class.allows_baseline) || before.is_some_and(is_baseline);
        refuse(is_baseline(settings) && !may_be_baseline, "/security_profile".to_owned());
        let known = before.map(sources).unwrap_or_default();
        for (index, source) in sources(settings).iter().enumerate() {
            let is_new = source.secret.is_some() && !known.contains(source);
            refuse(is_new, format!("/material/sources/{index}/secret"));
        }
        errors
    }

    /// Returns the errors of names of sizes that the launcher does not have, except for those of the class before.
    #[must_use]
    pub fn unknown_sizes(&self, before: Option<&Self>, sizes: &Sizes) -> Vec<FieldError> {
        let known = before.map_or(&[][..], |before| &before.allowed_sizes);
        let is_unknown = |name: &String| sizes.named(name).is_none() && !known.contains(name);
        let names: Vec<&str> = sizes.iter().map(|size| size.name.as_str()).collect();
        let error = |index| {
            FieldError::new(format!("/allowed_sizes/{index}"), FieldRule::SizeUnknown { sizes: names.join(", ") })
        };
        let unknown = self.allowed_sizes.iter().enumerate().filter(|(_, name)| is_unknown(name));
        unknown.map(|(index, _)| error(index)).collect()
    }
}

/// True if a pattern allows an image. A pattern without tag and digest allows all of them.
fn covers(pattern: &str, image: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        let is_version = start.ends_with([':', '@']);
        return image.strip_prefix(start).is_some_and(|rest| !(rest.is_empty() || is_version && is_host(rest)));
    }
    let has_version = pattern.rsplit('/').next().is_some_and(|last| last.contains([':', '@']));
    image
        .strip_prefix(pattern)
        .is_some_and(|rest| rest.is_empty() || (!has_version && rest.starts_with([':', '@']) && !is_host(rest)))
}

/// True if the rest of an image after a colon begins with the port of a registry: a slash follows. A tag has none.
fn is_host(rest: &str) -> bool {
    rest.contains('/')
}

fn sources(settings: &TemplateSettings) -> Vec<MaterialSource> {
    settings.material.iter().flat_map(|material| material.sources.clone()).collect()
}
