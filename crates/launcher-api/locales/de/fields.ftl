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

field-start-path = Startpfad
    .hint = Pfad der ersten Seite der App, zum Beispiel /vnc.html?autoconnect=1. Leer: /.

field-plain-tabs = Andere Tabs ohne Leiste
    .hint = Seiten, die die App in anderen Browser-Tabs öffnet, haben keine Leiste mit der verbleibenden Zeit. Schalten Sie dies nur ein, wenn diese Seiten unter der Leiste nicht funktionieren.

field-command = Befehl
    .hint = { field-words } Leer: der Befehl des Images.

field-arguments = Argumente
    .hint = { field-words } Leer: die Argumente des Images.

field-environment = Umgebungsvariablen
    .hint = Alle, die den Workshop starten, können diese Werte lesen. Tragen Sie hier keine Passwörter oder anderen Secrets ein. Werte können $(PORT), $(HOST) und $(ORIGIN) enthalten.

field-security-profile = Sicherheitsprofil
field-files = Dateien
field-storage = Nach dem Ende
    .hint = Behaltene Dateien: Der nächste Start derselben Person hat sie wieder. Andere Dateien: Ein Absturz der App löscht sie sofort, außer wenn Sie wählen, dass sie einen Absturz überstehen. Der Start dauert dann einige Sekunden länger.
    .hint-of-machine = Behaltene Dateien: Der nächste Start derselben Person hat sie wieder. Andere Dateien überstehen einen Absturz der App und werden am Ende gelöscht.
field-storage-size = Platz für behaltene Dateien
    .hint = Zum Beispiel 5 GB. Leer: 1Gi. Vorhandene Dateien behalten ihren Platz.
field-storage-path = Verzeichnis der behaltenen Dateien
    .hint = Zum Beispiel /home/jovyan. Leer: das Home-Verzeichnis des Standard-Images. Andere Apps brauchen ein Verzeichnis.

field-storage-at-expiry = Wenn die Zeit abgelaufen ist
    .hint = Ein pausierter Workshop läuft mit seinen Dateien weiter, sobald die Person ihn fortsetzt. Braucht aufbewahrte Dateien.
field-material = Kursmaterial
field-material-sources = { field-material }
    .hint = Git-Repositorys und Archive. Ihre Dateien sind beim Öffnen des Workshops da. Workshops können die Adressen lesen. Schreiben Sie keine Passwörter hinein.
field-material-directory = Verzeichnis des Kursmaterials
    .hint = Zum Beispiel /home/jovyan. Leer: das Verzeichnis der behaltenen Dateien oder das Home-Verzeichnis des Standard-Images. Andere Apps brauchen ein Verzeichnis.
field-material-repositories = Repositorys, die Links nennen können
    .hint = Eine Adresse pro Zeile, zum Beispiel https://git.example.org/statistics/. Ein Link zu dieser Vorlage kann dann ein Repository nennen, dessen Adresse so beginnt. Leer: keine.
field-asked = Fragen beim Start
field-parameters = Fragen
    .hint = Jeder Start fragt nach bis zu 10 Werten. Die App erhält jeden in einer Umgebungsvariablen.
field-pod-template = Pod-Vorlage
    .hint = Weitere Einstellungen des Pods als YAML: Teil einer Kubernetes-PodTemplateSpec, zum Beispiel mit Volumes, Variablen aus Secrets, Init-Containern oder Tolerations. Beim Speichern werden die Felder oben hinzugefügt und Kommentare entfernt.

field-shm-size = Gemeinsamer Speicher
    .hint = Größe von /dev/shm, zum Beispiel 1 GB. Was davon belegt ist, zählt zum Arbeitsspeicher der App. Leer: 64 MiB.

field-gpu-count = NVIDIA-GPUs
    .hint = Anzahl der GPUs, zum Beispiel 1. Leer oder 0: keine.

field-ephemeral-storage = Maximaler Speicherplatz
    .hint = Limit von ephemeral-storage, zum Beispiel 10 GB. Belegt ein Workshop mehr, beendet Kubernetes ihn. Leer: kein Limit.

field-image-pull-secret = Image-Pull-Secret
    .hint = Name des Secrets mit dem Passwort der Image-Registry. Leer: die Secrets der Installation.

field-node-selector = Node-Selektor
    .hint = Pro Zeile ein key=value. Workshops laufen nur auf Nodes, die alle diese Labels haben.

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

field-words = Eine Zeile wie in der Shell: Anführungszeichen halten Wörter zusammen. $(PORT) steht für den Port der App. $(HOST) und $(ORIGIN) stehen für Host und Origin des Workshops, zum Beispiel intro.example.org und https://intro.example.org.

field-unlisted = Nur per Link
    .hint = Die Vorlage steht nicht im Katalog. Alle, die den Link haben, können sie starten.

field-icon = Symbol

field-color = Farbe

field-tags = Schlagwörter
    .hint = Bis zu 8 Begriffe, mit denen man die Vorlage leichter findet, durch Kommas getrennt.

field-slug = Kurzlink
    .hint = Ein Name für den Link /go/name, zum Beispiel statistik-101. Erlaubt sind 2 bis 40 Zeichen: Kleinbuchstaben (a bis z), Ziffern und Bindestriche. Eine neue Vorlage ohne Kurzlink erhält ihn aus ihrem Namen.

field-command-line = Start der App

field-pod = Pod auf Kubernetes

field-resources = CPU und Arbeitsspeicher

row-source = Quelle { $number }
    .add = Repository hinzufügen
row-question = Frage { $number }
    .add = Frage hinzufügen
row-variable = Variable { $number }
    .add = Variable hinzufügen

part-url = Adresse
    .hint = Ein Repository oder ein Archiv, zum Beispiel https://git.example.org/statistics/101.git.
part-ref = Branch, Tag oder Commit
    .hint = Leer: der Standard-Branch. Nur bei einem Repository.
part-folder = Nur dieser Ordner
    .hint = Zum Beispiel week1. Leer: alle Dateien.
part-target = Ordner im Workshop
    .hint = Leer: das Ende der Adresse, zum Beispiel 101.
part-sha256 = Prüfsumme des Archivs
    .hint = SHA-256. Die Schaltfläche „Prüfen“ trägt sie ein.
part-secret = Secret
    .hint = Bei einer privaten Quelle: der Name eines Secrets, das die Administration angelegt hat. Kein Passwort.

part-label = Frage
part-kind = Art der Antwort
part-choices = Auswahl
    .hint = Ein Eintrag pro Zeile. Nur bei einer Auswahl aus einer Liste.
part-required = Eine Antwort ist erforderlich
part-variable = Umgebungsvariable
    .hint = Leer: aus der Frage, zum Beispiel DATENSATZ.
part-help = Hilfetext
part-default = Vorgegebene Antwort
    .hint = Nicht bei geheimem Text.
part-min = Minimum
    .hint = Nur bei Zahlen.
part-max = Maximum
    .hint = Nur bei Zahlen.
part-integer = Nur ganze Zahlen
part-max-length = Maximale Länge
    .hint = In Zeichen. Leer: 200. Nur bei Text.

part-name = Name der Variablen
part-value = Wert

answer-text = Text
answer-choice = Auswahl aus einer Liste
answer-number = Zahl
answer-secret = Geheimer Text
