classes = Cours
all-classes = Tous les cours
no-classes = Vous n’avez aucun cours.
my-classes = Mes cours
archived = Archivé
new-class = Nouveau cours
class-name = Nom du cours
class-teachers = Enseignants
class-teachers-hint = Adresses, une par ligne. Vide : vous.
create-class = Créer le cours
classes-unreadable = Ligne { $line } : « { $entry } » n’est pas une adresse e-mail.
class-catalog = Ateliers de ce cours
class-no-templates = Ce cours n’a pas encore d’atelier.
role = Rôle
class-ends = Fin
role-none = Non membre
role-student = Étudiant
role-assistant = Assistant
role-teacher = Enseignant
members = Membres
members-table = Membres et leurs ateliers
member = Membre
add-members = Ajouter des membres
add-members-hint = Collez des adresses, ou un tableau avec son en-tête, tel que votre plateforme l’exporte. Vous voyez tous les changements avant qu’ils soient faits.
remove-member = Retirer
remove-member-question = Retirer { $email } du cours ?
remove-member-warning = Ses ateliers de ce cours se terminent. Son travail enregistré reste le sien.
end-of-member-question = Terminer l’atelier { $name } ?
end-of-member-warning = Le travail non enregistré est perdu.
standing-failed = Échec
standing-trouble = Problème avec le matériel de cours
standing-absent = Absent
standing-joined = Était présent
standing-left-at = Présent jusqu’à { $value }
last-use-at = · dernière utilisation { $value }
standing-starting = Démarrage
standing-paused = En pause
standing-ready = Prêt
class-settings = Paramètres du cours
class-save = Enregistrer
class-changed-meanwhile = Le cours a été modifié entre-temps. Ouvrez cette page de nouveau et refaites vos modifications.
class-field-name = Nom
    .hint = Une ligne.
class-field-description = Description
    .hint = Les membres et les personnes qui ont le lien d’inscription la voient. Markdown.
class-field-starts-on = Premier jour
    .hint = Vide : le lancement est possible tout de suite.
class-field-ends-on = Dernier jour
    .hint = Vide : sans fin.
class-field-max-workshops = Ateliers du cours en même temps
    .hint = Vide : seulement les limites de ce lanceur. Seuls les administrateurs augmentent la valeur.
class-field-max-workshops-per-member = Ateliers d’une personne en même temps
    .hint = Vide : seulement les limites de ce lanceur. Seuls les administrateurs augmentent la valeur.
class-field-queue-weight = Poids dans la file d’attente
    .hint = De 1 à 10. Avec un poids double, deux fois plus d’ateliers du cours démarrent en même temps.
class-field-namespace = Espace de noms Kubernetes
    .hint = Un de ceux que l’administration a préparés pour les cours. Un changement vaut pour les lancements suivants ; les fichiers conservés restent où ils sont.
class-field-namespace-default = celui de tous les autres ateliers
class-field-slug = Nom dans les adresses
    .hint = Les liens avec l’ancien nom ne mènent plus ici.
class-field-archived = Le cours est terminé
    .hint = Les étudiants ne peuvent plus rien lancer. Les ateliers en cours continuent.
board-search = Nom ou adresse
board-standing = État des membres
board-all-standings = Tous les états
board-none-found = Aucun membre ne correspond.
class-actions = Tous les ateliers du cours
all-launch-title = Lancer pour tous
all-launch-question = { $count ->
    [one] Lancer un atelier pour l’étudiant du cours ?
   *[other] Lancer un atelier pour chacun des { $count } étudiants ?
}
all-launch-warning = Les étudiants qui ont déjà un atelier de ce modèle le gardent. Les autres en reçoivent un, qu’ils trouvent sur leur page d’accueil.
all-launch-template = Modèle
all-launch-result = Lancement pour tous les étudiants
all-launch-done = Lancé
all-launch-unchanged = En a déjà un
all-extend-title = Prolonger tous les ateliers
all-extend-question = { $count ->
    [one] Prolonger l’atelier prêt du cours ?
   *[other] Prolonger les { $count } ateliers prêts du cours ?
}
all-extend-warning = Chacun dure au plus jusqu’à sa durée maximale. Aucun atelier ne se termine plus tôt.
all-pause-title = Mettre tous en pause
all-pause-question = { $count ->
    [one] Mettre en pause l’atelier prêt du cours ?
   *[other] Mettre en pause les { $count } ateliers prêts du cours ?
}
all-pause-warning = Leurs programmes s’arrêtent. Leurs fichiers enregistrés restent, et chaque personne peut reprendre son atelier. Les ateliers qui ne gardent pas de fichiers continuent.
all-pause-result = Pause de tous les ateliers
all-pause-done = En pause
all-end-title = Terminer tous les ateliers
all-end-question = { $count ->
    [one] Terminer l’atelier du cours ?
   *[other] Terminer les { $count } ateliers du cours ?
}
all-end-warning = Le travail non enregistré est perdu. Les fichiers enregistrés restent aux étudiants.
all-end-result = Fin de tous les ateliers
all-end-done = Terminé
all-end-unchanged = Se terminait déjà
all-count-refused = Non effectué
all-nothing = Il n’y avait rien à faire.
all-needs-values = Le lancement de ce modèle demande des valeurs que seul l’étudiant connaît. Donnez une valeur par défaut dans le modèle, ou partagez le lien du modèle.
other-limit = A { $limit } ateliers, le maximum
other-class-limit = A { $limit } ateliers dans ce cours, le maximum
all-class-limit = Le cours a { $limit } ateliers, son maximum
other-too-many-launches = Trop de lancements en peu de temps
other-volume-in-use = Un autre atelier de cette personne utilise les fichiers enregistrés
other-storage = A { $gib } Gio de travail enregistré, le maximum
projector = Vue pour le projecteur
attendance = Télécharger les présences
class-manage = Gérer le cours
class-state-not-begun = Pas encore commencé
class-state-over = Terminé
class-member-states = Membres par état
all-none = Il n’y a rien à faire.
guide-class = Votre cours en dix étapes
guide-code = Exemple : le code au projecteur.
guide-board = Exemple : la page du cours.
guide-hand = Exemple : une main levée, et un message à tous.
guide-message = L’exercice 2 commence.
