### Texts of the activity log.

person = Person

activity-list = Aktivitäten, neueste zuerst

no-activity = Keine Aktivitäten gefunden.

not-a-person = Das ist keine E-Mail-Adresse. Die Liste zeigt die Aktivitäten aller Personen.

activity-launched = { $actor } hat { $subject } gestartet.
activity-launched-for = { $actor } hat { $subject } für { $owner } gestartet.
activity-extended = { $actor } hat { $subject } bis { $until } verlängert.
activity-extended-for = { $actor } hat { $subject } von { $owner } bis { $until } verlängert.
activity-extended-beyond-maximum = { $actor } hat { $subject } bis { $until } verlängert, { $duration } über die maximale Laufzeit hinaus.
activity-extended-beyond-maximum-for = { $actor } hat { $subject } von { $owner } bis { $until } verlängert, { $duration } über die maximale Laufzeit hinaus.
activity-maximum-raised = { $actor } hat die maximale Laufzeit von { $subject } auf { $duration } erhöht.
activity-maximum-raised-for = { $actor } hat die maximale Laufzeit von { $subject } von { $owner } auf { $duration } erhöht.
activity-restarted = { $actor } hat { $subject } neu gestartet.
activity-restarted-for = { $actor } hat { $subject } von { $owner } neu gestartet.
activity-suspended = { $actor } hat { $subject } pausiert.
activity-suspended-for = { $actor } hat { $subject } von { $owner } pausiert.
activity-resumed = { $actor } hat { $subject } fortgesetzt.
activity-resumed-for = { $actor } hat { $subject } von { $owner } fortgesetzt.
activity-ended = { $actor } hat { $subject } beendet.
activity-ended-for = { $actor } hat { $subject } von { $owner } beendet.
activity-failed = { $actor } hat { $subject } als fehlgeschlagen markiert.
activity-failed-for = { $actor } hat { $subject } von { $owner } als fehlgeschlagen markiert.
activity-dismissed = { $actor } hat { $subject } nach einem Fehlschlag entfernt.
activity-dismissed-for = { $actor } hat { $subject } von { $owner } nach einem Fehlschlag entfernt.
activity-template-created = { $actor } hat die Vorlage { $subject } erstellt.
activity-template-changed = { $actor } hat die Vorlage { $subject } geändert.
activity-template-changed-fields = { $actor } hat die Vorlage { $subject } geändert: { $fields }.
activity-joined = { $first }, { $second }
activity-template-archived = { $actor } hat die Vorlage { $subject } archiviert.
activity-template-restored = { $actor } hat die Vorlage { $subject } wiederhergestellt.
activity-class-created = { $actor } hat den Kurs { $subject } angelegt.
activity-class-changed = { $actor } hat den Kurs { $subject } geändert.
activity-join-link-created = { $actor } hat einen Beitrittslink des Kurses { $subject } erstellt.
activity-join-link-revoked = { $actor } hat den Beitrittslink des Kurses { $subject } widerrufen.
activity-class-message-sent = { $actor } hat eine Nachricht an den Kurs { $subject } gesendet.
activity-member-added = { $actor } ist dem Kurs { $subject } beigetreten.
activity-member-added-for = { $actor } hat { $owner } zum Kurs { $subject } hinzugefügt.
activity-member-changed = { $actor } hat eine andere Rolle im Kurs { $subject } bekommen.
activity-member-changed-for = { $actor } hat { $owner } eine andere Rolle im Kurs { $subject } gegeben.
activity-member-removed = { $actor } hat den Kurs { $subject } verlassen.
activity-member-removed-for = { $actor } hat { $owner } aus dem Kurs { $subject } entfernt.
activity-volume-deleted = { $actor } hat die gespeicherte Arbeit von { $subject } gelöscht.
activity-volume-deleted-for = { $actor } hat die gespeicherte Arbeit von { $owner } in { $subject } gelöscht.
activity-files-downloaded = { $actor } hat die gespeicherte Arbeit von { $subject } heruntergeladen.
activity-files-downloaded-for = { $actor } hat die gespeicherte Arbeit von { $owner } in { $subject } heruntergeladen.
downloads-by-others = Downloads Ihrer Dateien durch Administratoren

activity-service = Der Dienst

activity-ended-alone = { $subject } von { $owner } wurde beendet.
activity-ended-alone-why = { $subject } von { $owner } wurde beendet. { $reason }.
activity-suspended-alone = { $subject } von { $owner } wurde pausiert, weil die Zeit abgelaufen war.
activity-failed-alone = { $subject } von { $owner } ist fehlgeschlagen.
activity-failed-alone-why = { $subject } von { $owner } ist fehlgeschlagen. { $reason }.
