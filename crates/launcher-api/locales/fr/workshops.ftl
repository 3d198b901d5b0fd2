### Texts of the start page, the pages of a workshop and of a template, and the history.

my-workshops = Mes ateliers

no-workshops = Vous n’avez aucun atelier. Lancez-en un ci-dessous.

has-ended = « { $name } » est terminé.

only-the-newest = Cette liste ne montre que vos ateliers les plus récents.

show-all-mine = Afficher tous mes ateliers

files-of-paused = Un atelier en pause a vos fichiers enregistrés. Reprenez-le pour continuer, ou terminez-le.

waits-for = depuis { $value }

ends-in = Se termine dans { $value }

ends-warning = Enregistrez votre travail !

open = Ouvrir

more-actions = Autres actions : { $name }

details = Détails

keeps-files = conserve les fichiers

extend-until = Prolonger jusqu’à { $value }

end = Terminer

pause = Mettre en pause

confirm-pause = Mettre cet atelier en pause ? Ses programmes s’arrêtent. Vous retrouvez les fichiers que vous avez enregistrés quand vous le reprenez.

resume = Reprendre

paused-since = depuis { $value }

launch-again = Relancer

parameter-optional = { $label } (facultatif)

parameter-choose = Choisir…

parameter-secret = (secret)

parameter-secret-hint = Cette valeur ne sera plus affichée.

parameter-secret-help = { $help } Cette valeur ne sera plus affichée.

parameters-wrong = Rien n’a été lancé. Corrigez ces champs :

parameters-ignored = Le lien contient des valeurs qu’il ne peut pas remplir. Remplissez vous-même ces champs, si le formulaire les contient : { $names }

dismiss = Retirer

last-output = Derniers messages du programme

crash-crashed = L’application s’est arrêtée de façon inattendue et a été redémarrée à { $value }.

crash-out-of-memory = L’application a manqué de mémoire et a été redémarrée à { $value }.
crash-moved = Le serveur de l’atelier s’est arrêté à { $value }. L’atelier a été redémarré.

crash-files-kept = Les fichiers enregistrés sont toujours là.

crash-files-lost = Les fichiers non enregistrés ailleurs sont perdus.

crash-advice-crashed = Si cela se reproduit, dites à votre enseignant ce que vous avez fait juste avant.

crash-advice-out-of-memory = Chargez moins de données à la fois, ou demandez un modèle avec plus de mémoire.
crash-advice-moved = Rouvrez vos fichiers. Les programmes en cours d’exécution se sont arrêtés.

material = Matériel de cours

material-placed = { $target } : chargé

material-updated = { $target } : mis à jour

material-unchanged = { $target } : à jour

material-failed = { $target } : non chargé

material-not-loaded = Le matériel de cours pour le dossier { $target } n’a pas pu être chargé.

material-not-loaded-advice = L’atelier a démarré quand même. S’il conserve vos fichiers, le dossier contient les fichiers de votre dernier lancement. Prévenez votre enseignant, ou relancez l’atelier plus tard.

material-conflicts = { $count ->
    [one] Vous et votre enseignant avez tous deux modifié un fichier du dossier { $target }.
   *[other] Vous et votre enseignant avez tous deux modifié { $count } fichiers du dossier { $target }.
}

material-conflicts-advice = Vos fichiers sont inchangés. Les fichiers de votre enseignant sont à côté, sous un autre nom.

catalog = Lancer un atelier

shared-catalog = { $count ->
    [one] Un autre atelier
   *[other] { $count } autres ateliers
}

search-catalog = Rechercher dans le catalogue

search-hint = Rechercher

search = Rechercher

no-templates = Il n’y a pas encore d’atelier à lancer.

create-first = Créer le premier modèle

nothing-found = Aucun atelier ne correspond à votre recherche.

launch = Lancer

have-one-short = Déjà lancé

have-one = Vous avez déjà cet atelier :

repository-added = L’atelier reçoit les fichiers de ce dépôt :

repository-reference = Branche, tag ou commit :

repository-folder = Seulement le dossier :

repository-refused = Le lien indique un dépôt qui ne peut pas être utilisé : { $wrong }.

last-one-failed = Votre dernier atelier de ce modèle a échoué.

show-it = L’afficher

launch-another = En lancer un autre

edit-template = Modifier le modèle

all-workshops = Tous les ateliers

instance-name = Nom

owner = Propriétaire

app = Application

launched-at = Lancement

ready-since = Prêt depuis

latest-end = Fin au plus tard

ended-at = Fin

lasted = Durée

why-ended = Motif de la fin

belongs-to = Il appartient à { $value }.

end-workshop = Terminer l’atelier

keep-it = Ne pas terminer

pause-title = Mettre { $name } en pause

pause-question = Mettre « { $name } » en pause ?

pause-warning = Tous les programmes de l’atelier s’arrêtent, et le travail non enregistré est perdu. Vous retrouvez les fichiers que vous avez enregistrés quand vous reprenez l’atelier. Vous pouvez le reprendre à tout moment.

pause-workshop = Mettre l’atelier en pause

pause-cancel = Le laisser tourner

ended-workshops = Ateliers terminés

workshop = Atelier

no-history = Vous n’avez encore aucun atelier terminé.

saved-work = Travail enregistré

saved-work-all = Travail enregistré de tous

saved-work-about = Certains ateliers conservent leurs fichiers. Vous les retrouvez au prochain lancement de cet atelier.

snapshots-about = Certains ateliers enregistrent leurs fichiers ici à leur fin, pendant { $time }. La page d’un atelier indique si ses fichiers seront enregistrés.

no-saved-work = Il n’y a pas encore de travail enregistré.

saved-work-shared = Partagé par plusieurs ateliers

saved-work-size = Espace

saved-work-last-used = Dernière utilisation

saved-work-deleted-after = Supprimé si inutilisé jusqu’au

saved-work-in-use = En cours d’utilisation

snapshot-size = Taille

snapshot-saved-at = Enregistré

snapshot-deleted-on = Supprimé le

saved-work-delete = Supprimer

saved-work-download = Télécharger

saved-work-question = Supprimer le travail enregistré de « { $name } » ?

saved-work-warning = Tous les fichiers sont supprimés. Personne ne peut les restaurer. Le prochain lancement commence sans fichiers.

snapshot-warning = Tous les fichiers sont supprimés. Personne ne peut les restaurer.

saved-work-delete-now = Supprimer tous les fichiers

saved-work-keep = Garder les fichiers

snapshot-pending = Enregistrement de vos fichiers avant la fin de l’atelier.

snapshot-saved = Vos fichiers sont enregistrés.

snapshot-saved-until = Vos fichiers sont enregistrés jusqu’au { $value }.

snapshot-deleted = Les fichiers enregistrés de cet atelier ont été supprimés.

snapshot-failed = Vos fichiers n’ont pas pu être enregistrés. { $reason }

snapshot-failure-time-limit = Ils n’ont pas été enregistrés à temps.
snapshot-failure-too-large = Ils dépassent 2 Gio.
snapshot-failure-limit-reached = Les fichiers de 20 ateliers sont déjà enregistrés. Supprimez-en d’abord quelques-uns.
snapshot-failure-files-unavailable = Le service n’a pas pu les lire.
snapshot-failure-store-unavailable = Le service n’a pas pu les stocker.
snapshot-failure-workshop-gone = L’atelier était déjà arrêté.

in-new-tab = { $name } (dans un nouvel onglet)

show-all = Tout afficher ({ $offered })

found = Résultats : { $found } sur { $offered }

lasts = Durée : { $lifetime }
lasts-extensible = Durée : { $lifetime }, prolongeable jusqu’à { $longest }

end-title = Terminer { $name }

end-question = Terminer « { $name } » ?

outdated = Cet atelier fonctionne avec une ancienne version du sidecar ou des réglages.
outdated-restart = Redémarrer les ateliers obsolètes

files-are-deleted = Les fichiers d’un atelier sont supprimés à sa fin. Téléchargez ce que vous voulez garder.
files-are-kept = Les fichiers sont conservés à la fin de l’atelier : vous les retrouvez au prochain lancement.
files-are-kept-for = Les fichiers sont conservés à la fin de l’atelier : vous les retrouvez au prochain lancement. Ils sont supprimés après { $time } sans utilisation.
files-are-saved = Les fichiers sont enregistrés pendant { $time } à la fin de l’atelier.
files-none-yet = L’atelier n’a pas encore de fichiers.

saves-files = enregistre les fichiers pendant { $time }
deletes-files = supprime les fichiers à la fin

confirm-end = Terminer cet atelier ? { $files }

end-warning = L’atelier s’arrête. { $files }

material-short-failed = Non chargé
material-short-conflicts = Conflits

failure-report =
    { $template } ({ $workshop })
    Lancé : { $time }
    { $failure }
    { $line }

copy-report = Copier pour mon enseignant

copied-report = Copié

launch-with-files = Lancer avec ces fichiers
files-launch-note = L’atelier démarre avec vos fichiers enregistrés :
saved-work-download-zip = Télécharger en .zip
