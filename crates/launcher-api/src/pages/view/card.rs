//! Templates as cards of the catalog.

use jiff::SignedDuration;
use launcher_domain::clock::random_hex;
use launcher_domain::template::{Icon, Listing};
use launcher_domain::{Parameter, Template, TemplateSettings};
use uuid::Uuid;

use super::AppTile;
use super::workshop::{KEY_BYTES, WorkshopView};
use crate::pages::{Text, Visitor, markdown};

#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) template_id: Uuid,
    pub(crate) name: String,
    /// Name of the class to which the template belongs.
    pub(crate) class: Option<String>,
    /// The start of the template's description, as plain text.
    pub(crate) teaser: String,
    pub(crate) app: Text,
    pub(crate) lasts: String,
    /// The lifetime with at most two units, as in `2 h`.
    pub(crate) lifetime: String,
    /// Idempotency key of the card's form: a form that is sent twice launches once.
    pub(crate) key: String,
    pub(crate) tags: Vec<String>,
    pub(crate) tile: AppTile,
    /// Fate of the files at the end of a workshop, as a sentence.
    pub(crate) files: String,
    /// The same in some words.
    pub(crate) files_in_short: String,
    /// True if a person's workshops of this template use the same files, so that each person has at most one.
    pub(crate) is_single: bool,
    /// True if a launch needs values that only the user can give. The card then has a link to the form.
    pub(crate) asks: bool,
    /// Name of the reader's first workshop of this template that waits, runs or is paused, if any.
    pub(crate) mine: Option<String>,
    pub(crate) is_paused: bool,
}

impl Card {
    /// Creates the card of a template, with a new form key.
    pub(crate) fn new(visitor: &Visitor, template: &Template) -> Self {
        Self::of(visitor, template.template_id, &template.settings, &template.listing)
    }

    pub(crate) fn of(visitor: &Visitor, template_id: Uuid, settings: &TemplateSettings, listing: &Listing) -> Self {
        let (t, launcher) = (visitor.t, &visitor.launcher);
        let files = launcher.files_of(&visitor.caller, settings);
        let icon = listing.icon.unwrap_or_else(|| Icon::of_app_type(settings.app_type));
        Self {
            template_id,
            name: settings.name.clone(),
            class: None,
            teaser: markdown::teaser(&settings.description),
            app: t.named("app-{}", settings.app_type.as_str()),
            lasts: t.lasts(settings.lifetime_seconds, settings.max_lifetime_seconds),
            lifetime: t.short(SignedDuration::from_secs(settings.lifetime_seconds.into())),
            key: random_hex::<KEY_BYTES>(launcher.entropy()),
            tags: listing.tags.clone(),
            tile: AppTile::new(&settings.name, icon, listing.color),
            files: t.files(files),
            files_in_short: t.files_in_short(files),
            is_single: settings.keeps_files(),
            asks: settings.parameters.iter().any(Parameter::must_be_given),
            mine: None,
            is_paused: false,
        }
    }

    /// Adds the reader's first workshop of this template that is not failed or terminating.
    pub(crate) fn beside(self, workshops: &[WorkshopView]) -> Self {
        let mine = workshops.iter().find(|workshop| workshop.template_id == self.template_id && workshop.can_end());
        let is_paused = mine.is_some_and(WorkshopView::can_resume);
        Self { mine: mine.map(|workshop| workshop.k8s_name.clone()), is_paused, ..self }
    }
}
