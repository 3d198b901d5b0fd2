### Texts for the owner at the address of a workshop that does not run.

stopped-title = Hier ist gerade kein Workshop
stopped-owner = Sie haben „{ $name }“ beendet.
stopped-admin = Ein Administrator hat „{ $name }“ beendet.
stopped-teacher = Eine Lehrperson hat „{ $name }“ beendet.
stopped-expired = Die Zeit von „{ $name }“ ist abgelaufen.
stopped-failed = „{ $name }“ ist fehlgeschlagen.
stopped-lost = Der Server hat „{ $name }“ verloren, oder ein Administrator hat den Workshop entfernt.
stopped-at = Ende: { $time }.
stopped-paused = „{ $name }“ ist pausiert.
stopped-starting-title = Der Workshop startet
stopped-starting = „{ $name }“ antwortet noch nicht. Der Workshop öffnet sich hier, sobald er bereit ist.
stopped-files-kept = Ihre Dateien bleiben erhalten. Beim nächsten Start sind sie wieder da.
stopped-files-deleted = Die Dateien dieses Workshops sind gelöscht.
stopped-saved-work = Gespeicherte Arbeit
stopped-page = Seite des Workshops öffnen
