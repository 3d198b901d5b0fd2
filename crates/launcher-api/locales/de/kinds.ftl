### States, reasons, app types and security profiles.

state-queued = Wartet
state-starting = Startet
state-running = Bereit
state-suspending = Wird pausiert
state-suspended = Pausiert
state-terminating = Wird beendet
state-terminated = Beendet
state-failed = Fehlgeschlagen

state-next = { $state }: startet als Nächstes
state-position = { $state }: Position { $position }
state-step = { $state }: { $step }

step-waiting-for-quota = wartet, bis ein anderer Workshop des Kurses endet
step-waiting-for-room = wartet auf Platz
step-waiting-for-room-progress = wartet auf Platz, Position { $position }
step-preparing = bereitet den Workshop vor
step-pulling-image = lädt das Image herunter, was beim ersten Mal länger dauert
step-pulling-image-progress = lädt das Image herunter: { $percent } %
step-pulling-image-unpacking = entpackt das heruntergeladene Image
step-loading-material = lädt das Kursmaterial
step-starting-app = wartet auf die Antwort der App
step-restarting-app = die App wurde beendet und startet neu

end-owner = Selbst beendet
end-admin = Von der Administration beendet
end-teacher = Von einer Lehrperson beendet
end-expired = Die Zeit war abgelaufen
end-failed = Fehlgeschlagen
end-lost = Vom Server verloren oder von der Administration entfernt

app-rstudio = RStudio
app-notebook = Jupyter-Notebook
app-custom = Web-App

profile-restricted = restricted: kein Root (empfohlen)
profile-baseline = baseline: Root im Container (für Standard-Images von RStudio nötig)
storage-none = Dateien löschen
storage-workshop = Dateien am Ende löschen, aber nach einem Absturz der App behalten
storage-kept = Dateien jeder Person behalten
storage-home = Dateien jeder Person behalten, gemeinsam mit anderen Vorlagen

at-expiry-end = Der Workshop endet
at-expiry-suspend = Der Workshop wird pausiert

icon-of-app = Wie die App
icon-notebook = Notebook
icon-statistics = Statistik
icon-code = Code
icon-terminal = Terminal
icon-web = Webseite
icon-database = Datenbank
icon-chart = Diagramm
icon-globe = Globus
icon-book = Buch
icon-flask = Laborkolben

color-of-name = Nach dem Namen
color-rose = Rosé
color-red = Rot
color-orange = Orange
color-yellow = Gelb
color-lime = Limette
color-green = Grün
color-teal = Petrol
color-cyan = Cyan
color-blue = Blau
color-indigo = Indigo
color-purple = Violett
color-pink = Pink
