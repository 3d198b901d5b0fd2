-- Last crash after which the fleet started the app again in place, as JSON.
ALTER TABLE workshop_instances ADD COLUMN last_crash TEXT;
