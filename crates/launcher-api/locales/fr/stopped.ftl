### Texts for the owner at the address of a workshop that does not run.

stopped-title = Aucun atelier ici pour le moment
stopped-owner = Vous avez terminé « { $name } ».
stopped-admin = Un administrateur a terminé « { $name } ».
stopped-teacher = Un enseignant a terminé « { $name } ».
stopped-expired = Le temps de « { $name } » est écoulé.
stopped-failed = « { $name } » a échoué.
stopped-lost = Le serveur a perdu « { $name } », ou un administrateur l’a supprimé.
stopped-at = Fin : { $time }.
stopped-paused = « { $name } » est en pause.
stopped-starting-title = L’atelier démarre
stopped-starting = « { $name } » ne répond pas encore. Il s’ouvrira ici dès qu’il sera prêt.
stopped-files-kept = Vos fichiers sont conservés. Votre prochain lancement les retrouvera.
stopped-files-deleted = Les fichiers de cet atelier sont supprimés.
stopped-saved-work = Travail enregistré
stopped-page = Ouvrir sa page
