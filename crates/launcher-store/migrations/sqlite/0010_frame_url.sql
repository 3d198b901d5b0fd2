-- URL at which the owner opens the workshop below a bar with the time left.
ALTER TABLE workshop_instances ADD COLUMN frame_url TEXT;
