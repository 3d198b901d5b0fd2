### Labels and hints of the fields in the template editor.

field-shown = Katalogeintrag

field-run = App

field-used = Ressourcen

field-lasting = Laufzeit

field-name = Name
    .hint = 1 bis 80 Zeichen.

field-description = Beschreibung
    .hint = Markdown, höchstens 4000 Zeichen. Die Karte zeigt die ersten Zeilen.

field-active = Im Katalog
    .hint = Alle können die Vorlage starten. Wird sie aus dem Katalog genommen, laufen bereits gestartete Workshops weiter.

field-app-type = App-Typ

field-image = Image
    .hint = Zum Beispiel quay.io/jupyter/base-notebook:latest.

field-port = Port
    .hint = Port, auf dem die App lauscht. Leer: 8787 für RStudio, 8888 für Jupyter. Pflicht bei einer Web-App.

field-command = Befehl
    .hint = { field-words }

field-arguments = Argumente
    .hint = { field-words }

field-environment = Umgebungsvariablen
    .hint = Pro Zeile ein NAME=value. Einen Wert mit Zeilenumbrüchen schreiben Sie als JSON-String: KEY="a\nb". Alle, die den Workshop starten, können diese Werte lesen. Tragen Sie hier keine Passwörter oder anderen Secrets ein.

field-security-profile = Sicherheitsprofil

field-cpu-request = CPU-Anforderung
    .hint = Für den Workshop reserviert. Leer: 100m.

field-cpu-limit = CPU-Limit
    .hint = Maximum für den Workshop. Leer: 2.

field-memory-request = Arbeitsspeicher-Anforderung
    .hint = Für den Workshop reserviert. Leer: 256Mi.

field-memory-limit = Arbeitsspeicher-Limit
    .hint = Maximum für den Workshop. Leer: 2Gi.

field-lifetime = Laufzeit in Sekunden
    .hint = Zeit ab „Bereit“ bis zum Ende. Leer: 7200 (zwei Stunden).

field-extension = Verlängerung in Sekunden
    .hint = Zeit, die eine Verlängerung hinzufügt. Leer: 3600 (eine Stunde).

field-longest = Maximale Laufzeit in Sekunden
    .hint = Länger lässt sich ein Workshop nicht verlängern. Leer: 28800 (acht Stunden).

field-words = Ein Wort pro Zeile. $(PORT) steht für den Port der App. Ein Wort mit einem Zeilenumbruch oder mit Leerzeichen am Anfang oder Ende schreiben Sie als JSON-String: "a\nb".
