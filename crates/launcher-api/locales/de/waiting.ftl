### Texts of the waiting page.

steps = Schritte des Starts

step-done = erledigt

step-current = läuft gerade

opens-by-itself = Diese Seite öffnet den Workshop, sobald er bereit ist.

is-ready = Der Workshop ist bereit und wird jetzt geöffnet.

cancel = Abbrechen

start-log = Startprotokoll

start-step-queue = In der Warteschlange warten
start-step-prepare = Platz finden und Workshop vorbereiten
start-step-image = Image herunterladen, falls nötig
start-step-downloads = Kursmaterial und, falls nötig, Image herunterladen
start-step-app = App starten

usual-start = Der Start dauert meist { $duration }.
