-- What an instance that starts is waiting for.
ALTER TABLE workshop_instances ADD COLUMN start_step TEXT;
