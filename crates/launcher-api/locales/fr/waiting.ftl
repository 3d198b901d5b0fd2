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

usual-start = En général, prêt en { $duration }.
