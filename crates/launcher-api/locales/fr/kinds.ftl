### States, reasons, app types and security profiles.

state-queued = En attente
state-starting = Démarrage
state-running = Prêt
state-suspending = Mise en pause
state-suspended = En pause
state-terminating = Arrêt en cours
state-terminated = Terminé
state-failed = Échec

state-next = { $state } : prochain à démarrer
state-position = { $state } : position { $position }
state-step = { $state } : { $step }

step-waiting-for-quota = attend qu’un autre atelier du cours se termine
step-waiting-for-room = attente d’une place
step-waiting-for-room-progress = attente d’une place, position { $position }
step-preparing = préparation de l’atelier
step-pulling-image = téléchargement de l’image, plus long la première fois
step-pulling-image-progress = téléchargement de l’image : { $percent } %
step-pulling-image-unpacking = décompression de l’image téléchargée
step-loading-material = chargement du matériel de cours
step-starting-app = attente de la réponse de l’application
step-restarting-app = l’application s’est arrêtée et redémarre

end-owner = Terminé par son propriétaire
end-admin = Terminé par un administrateur
end-teacher = Terminé par un enseignant
end-expired = Temps écoulé
end-failed = Échec de l’atelier
end-lost = Perdu par le serveur, ou supprimé par un administrateur

app-rstudio = RStudio
app-notebook = Notebook Jupyter
app-custom = Application web

profile-restricted = restricted : sans root (recommandé)
profile-baseline = baseline : root dans le conteneur (nécessaire aux images RStudio standard)
storage-none = Supprimer les fichiers
storage-workshop = Supprimer les fichiers à la fin, mais les conserver après un plantage de l’application
storage-kept = Conserver les fichiers de chaque personne
storage-home = Conserver les fichiers de chaque personne, en commun avec d’autres modèles

at-expiry-end = L’atelier se termine
at-expiry-suspend = L’atelier est mis en pause

icon-of-app = Selon l’application
icon-notebook = Notebook
icon-statistics = Statistiques
icon-code = Code
icon-terminal = Terminal
icon-web = Page web
icon-database = Base de données
icon-chart = Graphique
icon-globe = Globe
icon-book = Livre
icon-flask = Fiole

color-of-name = Selon le nom
color-rose = Rosé
color-red = Rouge
color-orange = Orange
color-yellow = Jaune
color-lime = Citron vert
color-green = Vert
color-teal = Bleu-vert
color-cyan = Cyan
color-blue = Bleu
color-indigo = Indigo
color-purple = Violet
color-pink = Rose
