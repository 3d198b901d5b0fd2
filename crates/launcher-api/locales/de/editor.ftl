### Texts of the list of templates, and of the editor.

editor-new-template = Neue Vorlage

editor-in-catalog = Im Katalog

editor-yes = Ja

editor-archived = Archiviert

editor-changed = Geändert

editor-actions = Aktionen

editor-edit = Bearbeiten

editor-duplicate = Duplizieren

editor-archive = Archivieren

editor-restore = Wiederherstellen

editor-all-templates = Alle Vorlagen

editor-create = Vorlage erstellen

editor-save = Änderungen speichern

editor-show-preview = Vorschau

editor-save-and-try = Speichern und testen

editor-cancel = Abbrechen

editor-preview-title = Vorschau

editor-preview = Es ist noch nichts gespeichert. Unten sehen Sie die Karte im Katalog und die Seite der Vorlage.

editor-conflict-title = Während Sie diese Vorlage bearbeitet haben, hat jemand anderes sie geändert.

editor-conflict = Ihre Änderungen sind noch nicht gespeichert. Sie stehen unten im Formular. Um die anderen Änderungen zu sehen, öffnen Sie diese Seite in einem zweiten Tab. Wenn Sie noch einmal speichern, überschreiben Ihre Änderungen die anderen.

editor-form-has-errors = Es wurde nichts gespeichert. Korrigieren Sie diese Felder:

editor-not-a-kind = Wählen Sie einen App-Typ aus der Liste.

editor-not-a-profile = Wählen Sie ein Profil aus der Liste.

editor-not-a-storage = Wählen Sie einen Eintrag aus der Liste.

editor-not-a-number = Geben Sie eine ganze Zahl ein.

editor-created-by = erstellt von { $author }
editor-the-service = diesem Dienst

editor-copy-of = Kopie von { $name }

editor-wrong-word = Wort { $number }: { $wrong }

editor-wrong-entry = Eintrag { $number }: { $wrong }

editor-second-time = Eine andere Zeile setzt { $name }. Setzen Sie jede Variable nur einmal.

editor-presets = Beginnen mit
editor-preset-source = Dokumentation von { $name }
editor-preset-no-image = Es gibt kein öffentliches Image. Bauen Sie eines aus diesem Dockerfile, laden Sie es in Ihre Registry, und tragen Sie seinen Namen im Feld Image ein. Die Dateien neben dem Dockerfile werden Dateien der App.
preset-jupyterlab = JupyterLab
preset-rstudio = RStudio
preset-vscode = VS Code
preset-marimo = marimo
preset-streamlit = Streamlit
preset-gradio = Gradio
preset-shiny = Shiny für Python
preset-dash = Dash
preset-panel = Panel
preset-voila = Voila
preset-terminal = Terminal
preset-desktop = Desktop
preset-web = Web-App

editor-not-yaml = Zeile { $line } ist kein YAML: { $message }
editor-not-a-yaml-object = Schreiben Sie ein YAML-Objekt mit den Feldern metadata und spec.
editor-not-a-size = Geben Sie eine Größe mit Einheit ein, zum Beispiel 512 MB, 10 GB oder 2 GiB (Dezimalzahlen mit Punkt).
editor-not-a-gpu-count = Geben Sie eine ganze Zahl von 0 bis { $most } ein.
editor-not-a-secret-name = Geben Sie den Namen eines einzigen Secrets ein: Kleinbuchstaben, Ziffern, Bindestriche und Punkte.
editor-not-a-label = Zeile { $line } ist kein Label. Schreiben Sie key=value.
editor-repeated-label = Zeile { $line } wiederholt den Schlüssel { $name }. Schreiben Sie jeden Schlüssel nur einmal.
editor-set-in-yaml = Auch das Feld Pod-Vorlage enthält { $setting }. Entfernen Sie es dort, oder leeren Sie dieses Feld.

editor-not-a-list = Schreiben Sie eine Zeile wie in der Shell oder eine JSON-Liste von Strings, zum Beispiel ["sh", "-c", "…"].

editor-not-an-icon = Wählen Sie ein Symbol aus der Liste.

editor-not-a-color = Wählen Sie eine Farbe aus der Liste.

editor-saved = Gespeichert. Geben Sie diesen Link an Ihren Kurs weiter:

editor-by-link = Nur per Link

image-ready = Image auf diesem Server bereit
image-missing = Image nicht auf diesem Server
image-pulling = Das Image wird heruntergeladen
image-failed = Das Image wurde nicht heruntergeladen

image-pulling-percent = Wird heruntergeladen: { $percent } %
image-unpacking = Das heruntergeladene Image wird entpackt

image-download = Jetzt herunterladen

image-retry = Erneut versuchen

image-begun-title = Das Image wird heruntergeladen.

image-begun = Der Download für { $name } läuft weiter, auch wenn Sie diese Seite verlassen.

image-check-template = Prüfen Sie Name und Tag des Images in der Vorlage. Die Registry muss Downloads ohne Anmeldung erlauben.
image-check-registry = Prüfen Sie, ob der Server die Registry erreicht. Versuchen Sie es dann noch einmal.
image-check-disk = Entfernen Sie nicht benutzte Images vom Server. Versuchen Sie es dann noch einmal.

editor-more = Mehr

editor-remove = Entfernen
editor-check = Prüfen

editor-short-link = Link für Ihren Kurs:

editor-not-in-list = Wählen Sie einen Eintrag aus der Liste.

editor-not-decimal = Geben Sie eine Zahl ein, zum Beispiel 12 oder 0.5.

editor-found-files = { $files ->
    [one] 1 Datei
   *[other] { $files } Dateien
 }, { $size }

editor-found-branch = Gefunden: Branch { $ref }, Commit { $version }
editor-found-commit = Gefunden: Commit { $version }
editor-found-archive = Gefunden: ein Archiv

editor-joined-facts = { $first }, { $second }.

editor-check-busy = Andere Prüfungen laufen gerade. Versuchen Sie es in einer halben Minute noch einmal.
editor-check-failed = Die Adresse konnte nicht geprüft werden. Versuchen Sie es noch einmal, oder speichern Sie die Vorlage und probieren Sie sie aus.

editor-unfound-title = Noch ist nichts gespeichert: Kursmaterial wurde nicht gefunden.
editor-unfound = Korrigieren Sie unten die Adressen. Oder speichern Sie die Vorlage trotzdem: Ihre Workshops starten dann ohne diese Dateien.
editor-save-anyway = Trotzdem speichern

editor-size = Größe
editor-size-figures = { $cpu_request } bis { $cpu_limit } CPU, { $memory_request } bis { $memory_limit } Arbeitsspeicher
editor-size-other = Andere
editor-size-other-figures = Es gelten die Angaben unter „{ editor-more }“
size-small = Klein
size-medium = Mittel
size-large = Groß

editor-class-images = Dieser Kurs erlaubt diese Images: { $images }
