### Texts of the admins' overview.

overview-as-of = Mise à jour : { $value }

overview-instances-now = Instances actuelles

overview-last-day = Les 24 dernières heures

overview-day-ago = il y a 24 h

overview-now = maintenant

overview-launches = Lancements

overview-key-launched = lancements

overview-key-failed = échecs

overview-in-use = Actifs

overview-launch-to-ready = Délai de démarrage

overview-key-p50 = la moitié des lancements

overview-key-p95 = 19 lancements sur 20

overview-by-template = Par modèle

overview-failures = Échecs

overview-ready-now = Prêts

overview-p50-ready = La moitié prêts en

overview-p95-ready = 19 sur 20 prêts en

overview-by-hour = Heure par heure

overview-hour-from = Début

overview-in-use-at-end = Actifs à la fin

overview-nothing-launched = Aucun lancement au cours des 24 dernières heures.

overview-hours-hint = Un échec est compté dans l’heure du lancement. La colonne « Actifs à la fin » compte les ateliers qui étaient prêts ou en cours d’arrêt. Elle omet les ateliers qui ont échoué ensuite.

overview-none = –

overview-seconds = { $seconds } s
overview-minutes = { $minutes } min
overview-minutes-seconds = { $minutes } min { $seconds } s
overview-hours = { $hours } h
overview-hours-minutes = { $hours } h { $minutes } min

overview-none-failed = aucun échec
overview-failed = { $failures ->
    [one] { $failures } échec ({ $percent } %)
   *[other] { $failures } échecs ({ $percent } %)
}
overview-failed-few = { $failures ->
    [one] { $failures } échec (moins de 1 %)
   *[other] { $failures } échecs (moins de 1 %)
}

overview-use-note = maintenant, maximum { $most }

overview-ready-note = pour la moitié des lancements ; { $p95 } pour 19 sur 20
overview-not-ready-yet = encore aucun atelier prêt

overview-launches-summary = Lancements pour chacune des 24 dernières heures : { $launches } au total, { $note }.
overview-launches-peak = Maximum en une heure : { $most }, { $when }.
overview-use-summary = Ateliers actifs à la fin de chacune des 24 dernières heures : { $now } maintenant.
overview-use-peak = Maximum : { $most }, { $when }.
overview-ready-summary = Délai de démarrage pour chacune des dernières 24 heures : la moitié des lancements en { $p50 }, 19 sur 20 en { $p95 }.
overview-ready-peak = Heure la plus lente : 19 lancements sur 20 en { $most }, { $when }.
overview-never-ready = Aucun atelier n’a été prêt au cours des 24 dernières heures.
overview-when = { $hours ->
    [0] au cours de la dernière heure
    [one] il y a { $hours } heure
   *[other] il y a { $hours } heures
}
overview-decimal-point = ,
