### Notices about refused actions.

limit-title = Sie haben Ihr Limit erreicht.

not-launched = Der Workshop wurde nicht gestartet.

at-capacity = Zu viele Workshops warten auf den Start. Versuchen Sie es in einer Minute noch einmal.

volume-in-use-title = Ein anderer Workshop benutzt diese Dateien.

volume-in-use = Ihr Workshop { $workshop } benutzt sie. Arbeiten Sie dort weiter, oder beenden Sie ihn zuerst und versuchen Sie es erneut, wenn er beendet ist.

volume-in-use-suspended = Ihr pausierter Workshop { $workshop } verwendet diese Dateien. Setzen Sie ihn fort, oder beenden Sie ihn zuerst.

storage-limit-title = Ihre gespeicherte Arbeit hat ihr Limit erreicht.

storage-limit = Ihre gespeicherte Arbeit darf insgesamt höchstens { $gib } GiB belegen. Dieser Workshop würde das überschreiten. Löschen Sie gespeicherte Arbeit, die Sie nicht mehr brauchen, und starten Sie den Workshop dann erneut.

no-download-title = Die Dateien wurden nicht heruntergeladen.

no-download = Öffnen Sie einen Workshop dieser Vorlage, und laden Sie die Dateien dort herunter.

too-many-downloads = Sie laden schon etwas herunter, oder es laufen zu viele andere Downloads. Versuchen Sie es in einer Minute noch einmal.
download-not-ready = Die Dateien konnten nicht rechtzeitig geöffnet werden. Versuchen Sie es in einer Minute noch einmal, oder starten Sie einen Workshop und laden Sie sie dort herunter.
snapshots-unavailable = Die gespeicherten Dateien sind gerade nicht lesbar. Versuchen Sie es in einer Minute noch einmal.

key-reused = Die Seite war veraltet. Jetzt ist sie aktuell. Starten Sie den Workshop unten erneut.

not-extended = Der Workshop wurde nicht verlängert.

expiry-changed = Das Ende hat sich geändert, nachdem Sie die Seite geladen haben. Das aktuelle Ende steht unten. Verlängern Sie noch einmal, wenn Sie mehr Zeit brauchen.

gone-title = Diesen Workshop gibt es nicht mehr.

gone = Die Liste unten ist aktuell.

inactive-admin = Diese Vorlage ist archiviert. Nur Admins können sie zum Testen starten.

inactive-user = Dieser Workshop wird nicht mehr angeboten. Fragen Sie Ihre Lehrperson nach dem aktuellen.

not-allowed-in-class = Der Kurs erlaubt diesen Workshop nicht mehr. { $reasons } Lehrende können ihn ändern.
class-limit = Dieser Kurs hat schon { $limit } Workshops, mehr sind nicht erlaubt. Warten Sie, bis einer endet, oder fragen Sie Ihre Lehrperson.
class-limit-own = Sie haben in diesem Kurs schon { $limit } Workshops, mehr sind nicht erlaubt. Beenden Sie zuerst einen.
class-over = Dieser Kurs ist beendet: seine Workshops lassen sich nicht mehr starten.
class-not-begun = Dieser Kurs hat noch nicht begonnen. Sie können seine Workshops ab dem ersten Tag starten.

fault-title = Der Dienst hat nicht geantwortet.

fault = Es ist unklar, ob die Aktion ausgeführt wurde. Sehen Sie gleich in der Liste unten nach. Wenn sich nichts geändert hat, versuchen Sie es noch einmal. Laufende Workshops sind nicht betroffen.

limit-reached = Sie haben { $held ->
        [one] 1 Workshop
       *[other] { $held } Workshops
    }. Das Limit ist { $limit }. { $ending ->
        [0] Beenden Sie zuerst einen Workshop und starten Sie dann erneut.
        [one] Ein Workshop wird noch beendet und zählt bis dahin mit. Versuchen Sie es gleich noch einmal.
       *[other] { $ending } Workshops werden noch beendet und zählen bis dahin mit. Versuchen Sie es gleich noch einmal.
    }

too-many-launches = Sie haben in kurzer Zeit zu viele Workshops gestartet. Versuchen Sie es in { $seconds ->
        [one] 1 Sekunde
       *[other] { $seconds } Sekunden
    } noch einmal.

no-extension-not-running = Die Zeit ist abgelaufen.
not-extended-not-running = Nur ein laufender Workshop kann verlängert werden.
not-extended-lifetime-limit-reached = Die maximale Laufzeit ist erreicht.
not-extended-expiry-changed = Das Ende hat sich geändert.

not-restarted = Der Workshop wurde nicht neu gestartet.
not-restarted-not-running = Nur ein laufender Workshop kann neu gestartet werden.
not-restarted-not-outdated = Er läuft bereits mit der aktuellen Version.

not-paused = Der Workshop wurde nicht pausiert.

not-paused-not-running = Nur ein laufender Workshop kann pausiert werden.
not-paused-files-not-kept = Seine Dateien werden nicht aufbewahrt. Beenden Sie ihn stattdessen.

not-resumed = Der Workshop wurde nicht fortgesetzt.

not-resumed-still-pausing = Er wird noch pausiert. Versuchen Sie es in einigen Sekunden noch einmal.
not-resumed-not-paused = Nur ein pausierter Workshop kann fortgesetzt werden. Starten Sie ihn neu.

