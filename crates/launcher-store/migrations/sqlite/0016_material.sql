-- Report about the course material, as JSON.
ALTER TABLE workshop_instances ADD COLUMN material TEXT;
