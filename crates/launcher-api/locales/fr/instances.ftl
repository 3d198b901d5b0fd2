### Texts of the admins' list of all instances, and of the bulk actions.

instances = Instances

instance = Instance

template = Modèle

every-template = Tous

state = État

not-ended = Non terminé

everything-ended = Terminé

every-state = Tous

action = Action

no-instances = Aucune instance ne correspond au filtre.

not-an-email = Ce n’est pas une adresse e-mail. La liste montre les instances de tout le monde.

more = Suite

tick-all = Tout sélectionner

bulk-form = Instances sélectionnées

bulk-form-title = Instances sélectionnées :

extend = Prolonger

bulk-end-title = Terminer les ateliers

bulk-end-now = Terminer maintenant

bulk-keep = Ne pas terminer

back-to-list = Retour à la liste

bulk-results = Résultats

result = Résultat

bulk-until = Nouvelle fin : { $value }

not-done = Non effectué.

try-again = Le service ne peut pas répondre pour le moment. Réessayez dans une minute.

nothing-ticked = Aucune instance n’a été sélectionnée.

bulk-what = Le formulaire contient une action inconnue.

sorted-by-template = Modèle
sorted-by-owner = Propriétaire
sorted-by-state = État
sorted-by-launch = Lancement
sorted-by-end = Fin

tick = Sélectionner { $name }

bulk-end-question = { $count ->
    [one] Terminer { $count } atelier ?
   *[other] Terminer { $count } ateliers ?
}

bulk-ended = Ateliers terminés : { $done } sur { $all }
bulk-ended-none = Ateliers terminés
bulk-extended = Ateliers prolongés : { $done } sur { $all }
bulk-extended-none = Ateliers prolongés

bulk-too-many = Sélectionnez au maximum { $most } instances à la fois.
instance-search = Recherche
instance-search-hint = Propriétaire, modèle ou instance
only-owner = Seulement les instances de { $owner }.

instance-count = { $count ->
    [one] { $count } instance
   *[other] { $count } instances
}
instance-count-more = Plus de { $limit } instances
instance-count-newest = { $count } parmi les { $limit } instances les plus récentes
instance-search-newest = La recherche porte uniquement sur les { $limit } instances les plus récentes. Pour chercher dans les plus anciennes, choisissez un modèle.

outdated-count = { $count ->
    [one] { $count } atelier fonctionne avec une ancienne version du sidecar ou des réglages.
   *[other] { $count } ateliers fonctionnent avec une ancienne version du sidecar ou des réglages.
}
restart = Redémarrer
restart-title = Redémarrer les ateliers
restart-question = { $count ->
    [one] Redémarrer { $count } atelier ?
   *[other] Redémarrer { $count } ateliers ?
}
restart-warning = Le travail non enregistré dans ces ateliers est perdu. Chaque atelier redémarre avec la version actuelle. Les heures de fin ne changent pas.
restart-keeps-files = Les fichiers sont conservés : l’atelier les retrouve après le redémarrage.
restart-deletes-files = Le redémarrage supprime les fichiers d’un atelier. Son propriétaire peut les télécharger avant.
restart-first = Cette page affiche { $listed } ateliers sur { $all }. Rouvrez-la plus tard pour redémarrer les autres.
restart-now = Redémarrer maintenant
restart-none = Aucun atelier ne fonctionne avec une ancienne version.
bulk-restarted = Ateliers redémarrés : { $done } sur { $all }
bulk-restarted-none = Ateliers redémarrés
restart-requested = L’atelier redémarre.

files-of-some = { $count ->
    [one] { $count } atelier : { $files }
   *[other] { $count } ateliers : { $files }
}
