join-link = Beitrittslink
join-link-until = Gültig bis
join-link-closed = Der Link nimmt niemanden mehr auf.
join-link-show = Code anzeigen
join-link-revoke = Link widerrufen
join-link-none = Der Kurs hat keinen Beitrittslink.
join-link-new = Neuer Link
join-link-valid = Gültig für
join-link-seats = Anzahl der Plätze
join-link-seats-hint = Leer: unbegrenzt.
join-link-domain = Nur Adressen der Domain
join-link-domain-hint = Leer: alle, die sich anmelden können.
join-link-members-only = Nur Mitglieder zum Kurs führen, niemanden hinzufügen
join-link-create = Link erstellen
join-with = Dem Kurs beitreten
join-qr = QR-Code des Beitrittslinks
join-title = Einem Kurs beitreten
join-refused = Mit diesem Link können Sie nicht beitreten
join-button = Beitreten
join-code = Code
join-code-hint = 10 Buchstaben und Ziffern, wie Ihre Lehrperson sie zeigt.
join-continue = Weiter
join-unknown = Kein Kurs hat diesen Code. Vergleichen Sie ihn Zeichen für Zeichen mit dem Code, den Ihre Lehrperson zeigt.
join-enter = Einem Kurs mit einem Code beitreten
back-to-class = Zurück zum Kurs
join-link-joined = { $people ->
    [one] { $people } Person ist beigetreten
   *[other] { $people } Personen sind beigetreten
}
join-link-joined-of = { $people } von { $seats } Plätzen belegt
join-link-days = { $days ->
    [one] { $days } Tag
   *[other] { $days } Tage
}
join-question = Sie sind als { $email } angemeldet. Diesem Kurs beitreten?
join-account = Sie sind als { $email } angemeldet.
join-too-many = Sie haben viele falsche Codes eingegeben. Versuchen Sie es in { $minutes ->
    [one] { $minutes } Minute
   *[other] { $minutes } Minuten
} noch einmal.
