-- Progress of the start step: position in the queue for room, or downloaded part of the image in percent.
ALTER TABLE workshop_instances ADD COLUMN start_progress INTEGER;
