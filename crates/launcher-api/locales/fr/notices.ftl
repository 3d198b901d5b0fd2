### Notices about refused actions.

limit-title = Vous avez atteint votre limite.

not-launched = L’atelier n’a pas été lancé.

at-capacity = Trop d’ateliers attendent de démarrer. Réessayez dans une minute.

volume-in-use-title = Un autre atelier utilise ces fichiers.

volume-in-use = Votre atelier { $workshop } les utilise. Continuez là-bas, ou terminez-le d’abord et réessayez une fois qu’il est terminé.

volume-in-use-suspended = Votre atelier en pause { $workshop } utilise ces fichiers. Reprenez-le pour continuer, ou terminez-le d’abord.

storage-limit-title = Votre travail enregistré a atteint sa limite.

storage-limit = Votre travail enregistré peut occuper au plus { $gib } GiB au total. Cet atelier dépasserait ce maximum. Supprimez le travail enregistré dont vous n’avez plus besoin, puis lancez de nouveau l’atelier.

no-download-title = Les fichiers n’ont pas été téléchargés.

no-download = Ouvrez un atelier de ce modèle et téléchargez-y les fichiers.

too-many-downloads = Vous avez déjà un téléchargement en cours, ou trop d’autres téléchargements sont en cours. Réessayez dans une minute.
download-not-ready = Les fichiers n’ont pas pu être ouverts à temps. Réessayez dans une minute, ou lancez un atelier et téléchargez-les là-bas.
snapshots-unavailable = Les fichiers enregistrés ne sont pas lisibles pour le moment. Réessayez dans une minute.

key-reused = La page n’était plus à jour. Elle l’est de nouveau. Lancez de nouveau l’atelier ci-dessous.

not-extended = L’atelier n’a pas été prolongé.

expiry-changed = L’heure de fin a changé depuis que vous avez chargé la page. L’heure actuelle est indiquée ci-dessous. Prolongez de nouveau s’il vous faut plus de temps.

gone-title = Cet atelier n’existe plus.

gone = La liste ci-dessous est à jour.

inactive-admin = Ce modèle est archivé. Seuls les administrateurs peuvent le lancer, pour le tester.

inactive-user = Cet atelier n’est plus proposé. Demandez à votre enseignant lequel utiliser.

not-allowed-in-class = Le cours n’autorise plus cet atelier. { $reasons } L’équipe enseignante peut le modifier.
class-limit = Ce cours a déjà { $limit } ateliers, sa limite. Attendez la fin de l’un d’eux, ou demandez à votre enseignant.
class-limit-own = Vous avez déjà { $limit } ateliers dans ce cours, la limite. Terminez-en un d’abord.
class-over = Ce cours est terminé : ses ateliers ne peuvent plus être lancés.
class-not-begun = Ce cours n’a pas commencé. Vous pourrez lancer ses ateliers à partir du premier jour.

fault-title = Le service n’a pas répondu.

fault = Impossible de savoir si l’action a été effectuée. Vérifiez la liste ci-dessous dans un instant. Si rien n’a changé, réessayez. Les ateliers en cours ne sont pas touchés.

limit-reached = Vous avez { $held ->
        [one] { $held } atelier
       *[other] { $held } ateliers
    }. La limite est de { $limit }. { $ending ->
        [0] Terminez un atelier, puis recommencez.
        [one] Un atelier est encore en cours d’arrêt et compte jusqu’à sa fin. Recommencez dans un instant.
       *[other] { $ending } ateliers sont encore en cours d’arrêt et comptent jusqu’à leur fin. Recommencez dans un instant.
    }

too-many-launches = Vous avez lancé trop d’ateliers en peu de temps. Recommencez dans { $seconds ->
        [one] { $seconds } seconde
       *[other] { $seconds } secondes
    }.

no-extension-not-running = Le temps est écoulé.
not-extended-not-running = Seul un atelier en cours peut être prolongé.
not-extended-lifetime-limit-reached = L’atelier a atteint sa durée maximale.
not-extended-expiry-changed = L’heure de fin a changé.

not-restarted = L’atelier n’a pas été redémarré.
not-restarted-not-running = Seul un atelier en cours peut être redémarré.
not-restarted-not-outdated = L’atelier fonctionne déjà avec la version actuelle.

not-paused = L’atelier n’a pas été mis en pause.

not-paused-not-running = Seul un atelier en cours peut être mis en pause.
not-paused-files-not-kept = Ses fichiers ne sont pas conservés. Terminez-le plutôt.

not-resumed = L’atelier n’a pas été repris.

not-resumed-still-pausing = Sa mise en pause est encore en cours. Réessayez dans quelques secondes.
not-resumed-not-paused = Seul un atelier en pause peut être repris. Lancez-le de nouveau.

