-- Values of the launch parameters by name, as JSON. A secret value is null.
ALTER TABLE workshop_instances ADD COLUMN parameters TEXT;
-- Values of the secret launch parameters by name, as JSON. NULL without secrets, and once the end is decided.
ALTER TABLE workshop_instances ADD COLUMN secrets TEXT;
