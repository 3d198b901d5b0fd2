### Texts of the error pages.

quote-number = Wenn Sie um Hilfe bitten, geben Sie diese Anfrage-ID an: { $value }

sign-in = Anmelden

to-workshops = Zu den Workshops

no-login-title = Unter dieser Adresse gibt es keinen Auth-Proxy

no-login = Der Launcher hat eine Anmeldeanfrage erhalten, bietet aber selbst keine Anmeldung. Schalten Sie einen Auth-Proxy davor oder setzen Sie SERVICE_LOGIN_URL auf dessen Adresse. Um den Launcher auf diesem Rechner ohne Auth-Proxy auszuprobieren, verwenden Sie make run oder starten Sie ihn mit SERVICE_REQUIRE_AUTHENTICATION=false und SERVICE_DEV_IDENTITY=you@example.org. Diese Einstellungen sind in docs/settings.md beschrieben.

signed-out-title = Sie sind abgemeldet

signed-out = Ihre Workshops laufen bis zu ihrem Ende weiter. Bei Ihrem Anmeldedienst sind Sie möglicherweise noch angemeldet. An einem gemeinsam genutzten Computer melden Sie sich auch dort ab oder schließen Sie den Browser.

sign-in-again = Erneut anmelden

bad-address = Die Adresse dieser Seite enthält einen ungültigen Parameter.

form-too-large = Das Formular ist zu groß.

form-of-another-kind = Das Formular hat den falschen Inhaltstyp. Verwenden Sie das Formular auf der Seite.

form-of-another-page = Im Formular fehlen Felder oder es enthält unbekannte Felder.

form-unreadable = Das Formular ist fehlerhaft oder kam nicht innerhalb von 30 Sekunden an.

error-authentication-required = Bitte melden Sie sich an
    .text = Sie sind nicht angemeldet oder Ihre Sitzung ist abgelaufen.
error-identity-unproven = Diese Adresse umgeht die Anmeldung
    .text = Ihre Anfrage lief nicht über die Anmeldung. Öffnen Sie die Adresse, die Sie erhalten haben. Falls Sie das schon getan haben, informieren Sie die Administration: Auth-Proxy und Launcher verwenden unterschiedliche Secrets.
error-admin-only = Nur für Admins
    .text = Sie sind angemeldet, haben aber keine Admin-Rechte.
error-cross-site-request = Die Aktion wurde abgelehnt
    .text = Die Anfrage kam von einer anderen Website. Es wurde nichts geändert. Öffnen Sie die Seite dieses Dienstes neu und wiederholen Sie die Aktion dort.
error-not-found = Seite nicht gefunden
    .text = Diese Seite gibt es nicht oder sie gehört nicht Ihnen. Falls es ein Workshop war, ist er vielleicht schon lange beendet.
error-version-mismatch = Jemand anderes hat die Vorlage geändert
    .text = Die Vorlage wurde geändert, nachdem Sie die Seite geladen haben. Ihre Änderung ist nicht gespeichert. Laden Sie die Seite neu und wiederholen Sie die Änderung.
error-body-too-large = Das Formular ist zu groß
    .text = Es wurde nichts gespeichert. Gehen Sie zurück, kürzen Sie Ihren Text und senden Sie ihn noch einmal ab.
error-invalid-fields = Das Formular wurde nicht angenommen
    .text = Es wurde nichts geändert. Laden Sie die Seite neu und wiederholen Sie die Aktion.
error-unavailable = Bitte versuchen Sie es gleich noch einmal
    .text = Der Dienst kann gerade nicht antworten. Laufende Workshops sind nicht betroffen.
error-internal = Im Dienst ist ein Fehler aufgetreten
    .text = Der Fehler wurde protokolliert. Laufende Workshops sind nicht betroffen. Versuchen Sie es gleich noch einmal.
error-other = Die Anfrage ist fehlgeschlagen

unknown-link = Kein Workshop hat den Link „{ $link }“

unknown-link-advice = Vergleichen Sie den Link Buchstabe für Buchstabe mit der Folie. Stimmt er überein, fragen Sie Ihre Lehrperson: Vielleicht hat sich der Link geändert. Die Startseite zeigt alle Workshops, die Sie starten können.
