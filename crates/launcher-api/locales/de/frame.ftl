### Texts of the frame around every page, and of the script.

product = Workshop Launcher

skip = Zum Inhalt springen

pages = Seiten

workshops = Workshops

history = Verlauf

overview = Übersicht

all-instances = Alle Instanzen

templates = Vorlagen

activity = Aktivitäten

admin = Admin

sign-out = Abmelden

help = Hilfe

students-guide = Anleitung für Studierende

teachers-guide = Anleitung für Lehrende

api-docs = API-Dokumentation

offline = Verbindung unterbrochen. Diese Seite ist möglicherweise nicht aktuell. Die Verbindung wird automatisch wiederhergestellt.

shares-one-user = Workshops sind hier nicht voneinander isoliert.

shares-one-user-advice = Wenn die Personen einander nicht vertrauen, betreiben Sie Workshops in Containern oder auf Kubernetes.

isolation = Isolation der Workshops

account = Konto

notify = Mich benachrichtigen

notify-on = Sie werden benachrichtigt

notify-off = Benachrichtigungen sind aus

spoken-end = { $name }: läuft noch { $left }

spoken-advice = Speichern Sie Ihre Arbeit oder verlängern Sie den Workshop.

product-version = Workshop Launcher { $version }

no-authentication = Die Authentifizierung ist ausgeschaltet. Nur für die Entwicklung geeignet: Alle greifen als { $email } zu.

languages = Sprache
language-name = Deutsch

older = Ältere

filter = Filter

filter-show = Anzeigen

filter-reset = Zurücksetzen

address-example = name@example.org
