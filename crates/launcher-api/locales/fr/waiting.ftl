### Texts of the waiting page.

steps = Étapes du démarrage

step-done = terminé

step-current = en cours

opens-by-itself = Cette page ouvrira l’atelier dès qu’il sera prêt.

is-ready = L’atelier est prêt et va s’ouvrir.

cancel = Annuler

start-log = Journal du démarrage

start-step-queue = Attente dans la file
start-step-prepare = Recherche d’une place et préparation de l’atelier
start-step-image = Téléchargement de l’image si nécessaire
start-step-downloads = Téléchargement du matériel de cours, et de l’image si nécessaire
start-step-app = Démarrage de l’application

wait-queue = { $before ->
    [0] C’est bientôt votre tour.
    [one] { $before } personne est avant vous.
   *[other] { $before } personnes sont avant vous.
}
wait-queue-about = { $before ->
    [0] C’est bientôt votre tour. Prêt dans { $time } environ.
    [one] { $before } personne est avant vous. Prêt dans { $time } environ.
   *[other] { $before } personnes sont avant vous. Prêt dans { $time } environ.
}
wait-room = { $before ->
    [0] Toutes les places sont prises. Votre atelier démarre dès qu’une place est libre.
    [one] Toutes les places sont prises. { $before } personne est avant vous.
   *[other] Toutes les places sont prises. { $before } personnes sont avant vous.
}
wait-about = Prêt dans { $time } environ.
wait-longer = Cela prend plus de temps que d’habitude.
wait-starting = Votre atelier démarre.

wait-progress = Progression du démarrage

wait-details = Détails

doing-waiting-for-quota = En attente de la fin d’un autre atelier du cours.
doing-waiting-for-room = En attente d’une place libre.
doing-preparing = Préparation de votre atelier.
doing-pulling-image = Récupération du logiciel. La première fois est plus longue.
doing-loading-material = Récupération des fichiers du cours.
doing-starting-app = Démarrage de l’application.
doing-restarting-app = L’application s’est arrêtée et redémarre.

start-step-material = Téléchargement du matériel de cours

material-trouble-failed = Les fichiers du cours n’ont pas été chargés
material-trouble-conflicts = Vous et votre enseignant avez modifié les mêmes fichiers

open-anyway = Ouvrir quand même

material-try-again = Réessayer

material-try-again-about = « Réessayer » termine cet atelier et le relance. { $files }
