-- Presentation of a template in the catalog, and the slug of its link. Instances do not copy these fields. tags is a JSON
-- array of texts.
ALTER TABLE workshop_templates ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE workshop_templates ADD COLUMN icon TEXT;
ALTER TABLE workshop_templates ADD COLUMN unlisted BIGINT NOT NULL DEFAULT 0 CHECK (unlisted IN (0, 1));
ALTER TABLE workshop_templates ADD COLUMN slug TEXT;

CREATE UNIQUE INDEX workshop_templates_slug ON workshop_templates (slug);

-- The list of users who are not admins. It replaces workshop_templates_active, which contains unlisted templates.
CREATE INDEX workshop_templates_listed ON workshop_templates (created_at, template_id)
    WHERE active = 1 AND unlisted = 0;
DROP INDEX workshop_templates_active;
