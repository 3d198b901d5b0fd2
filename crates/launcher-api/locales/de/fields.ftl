### Labels and hints of the fields in the template editor.

field-shown = Katalogeintrag

field-run = App

field-used = Ressourcen und Laufzeit

field-name = Name
    .hint = 1 bis 80 Zeichen.

field-description = Beschreibung
    .hint = Markdown, höchstens 4000 Zeichen. Die Karte zeigt die ersten Zeilen.

field-active = Kann gestartet werden
    .hint = Wenn Sie dies ausschalten, laufen bereits gestartete Workshops weiter.

field-app-type = App-Typ

field-image = Image
    .hint = Zum Beispiel quay.io/jupyter/base-notebook:latest.

field-port = Port
    .hint = Port, auf dem die App lauscht. Leer: 8787 für RStudio, 8888 für Jupyter. Pflicht bei einer Web-App.

field-command = Befehl
    .hint = { field-words } Leer: der Befehl des Images.

field-arguments = Argumente
    .hint = { field-words } Leer: die Argumente des Images.

field-environment = Umgebungsvariablen
    .hint = Pro Zeile ein NAME=value. Einen Wert mit Zeilenumbrüchen schreiben Sie als JSON-String: KEY="a\nb". Alle, die den Workshop starten, können diese Werte lesen. Tragen Sie hier keine Passwörter oder anderen Secrets ein.

field-security-profile = Sicherheitsprofil
field-pod-template = Pod-Vorlage
    .hint = Teil einer Kubernetes-PodTemplateSpec als YAML: Volumes, Variablen aus Secrets, Init-Container, Node-Selektor. Kommentare gehen beim Speichern verloren.

field-cpu-request = Reservierte CPU
    .hint = Anzahl der Kerne, zum Beispiel 0.5. Leer: 100m.

field-cpu-limit = Maximale CPU
    .hint = Anzahl der Kerne, zum Beispiel 2 oder 0.5. Leer: 2.

field-memory-request = Reservierter Arbeitsspeicher
    .hint = Zum Beispiel 512 MB. Leer: 256Mi.

field-memory-limit = Maximaler Arbeitsspeicher
    .hint = Zum Beispiel 4 GB. Leer: 2Gi.

field-lifetime = Laufzeit
    .hint = Zeit ab „Bereit“ bis zum Ende, zum Beispiel 2 h oder 90 min. Leer: 2 h.

field-extension = Verlängerung
    .hint = Zeit, die eine Verlängerung hinzufügt, zum Beispiel 1 h. Leer: 1 h.

field-longest = Maximale Laufzeit
    .hint = Darüber hinaus lässt sich ein Workshop nicht verlängern. Leer: 8 h.

field-words = Eine Zeile wie in der Shell: Anführungszeichen halten Wörter zusammen. $(PORT) steht für den Port der App.

field-unlisted = Nur per Link
    .hint = Die Vorlage steht nicht im Katalog. Alle, die den Link haben, können sie starten.

field-icon = Symbol

field-tags = Schlagwörter
    .hint = Bis zu 8 Begriffe, mit denen man die Vorlage leichter findet, durch Kommas getrennt.

field-slug = Kurzlink
    .hint = Ein Name für den Link /go/name, zum Beispiel statistik-101. Erlaubt sind 2 bis 40 Zeichen: Kleinbuchstaben (a bis z), Ziffern und Bindestriche.

field-command-line = Start der App

field-more = Limits und Link

field-resources = CPU und Arbeitsspeicher
