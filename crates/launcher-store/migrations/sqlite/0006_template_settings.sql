-- Settings of templates as they were launched, stored once however many instances were launched with them. A row is named
-- by its content (SHA-256 of settings, in hexadecimal digits) and never changes.
CREATE TABLE template_settings (
    settings_hash TEXT NOT NULL PRIMARY KEY,
    settings TEXT NOT NULL
);

-- NULL: launched before this table existed, or by a launcher of the version before. Such a row holds its settings itself,
-- until upkeep moves them here. Where settings_hash is set, the row's own settings are the empty text.
ALTER TABLE workshop_instances ADD COLUMN settings_hash TEXT REFERENCES template_settings (settings_hash);

-- Finds the rows that still hold their settings, and whether any row refers to some settings.
CREATE INDEX workshop_instances_settings ON workshop_instances (settings_hash);
