### Texts of the activity log.

person = Personne

activity-list = Activité, de la plus récente à la plus ancienne

no-activity = Aucune activité trouvée.

not-a-person = Ce n’est pas une adresse e-mail. La liste montre l’activité de tout le monde.

activity-launched = { $actor } a lancé l’atelier { $subject }.
activity-launched-for = { $actor } a lancé l’atelier { $subject } pour { $owner }.
activity-extended = { $actor } a prolongé l’atelier { $subject } (nouvelle fin : { $until }).
activity-extended-for = { $actor } a prolongé l’atelier { $subject } de { $owner } (nouvelle fin : { $until }).
activity-extended-beyond-maximum = { $actor } a prolongé l’atelier { $subject } au-delà de sa durée maximale de { $duration } (nouvelle fin : { $until }).
activity-extended-beyond-maximum-for = { $actor } a prolongé l’atelier { $subject } de { $owner } au-delà de sa durée maximale de { $duration } (nouvelle fin : { $until }).
activity-maximum-raised = { $actor } a porté la durée maximale de l’atelier { $subject } à { $duration }.
activity-maximum-raised-for = { $actor } a porté la durée maximale de l’atelier { $subject } de { $owner } à { $duration }.
activity-restarted = { $actor } a redémarré l’atelier { $subject }.
activity-restarted-for = { $actor } a redémarré l’atelier { $subject } de { $owner }.
activity-suspended = { $actor } a mis en pause { $subject }.
activity-suspended-for = { $actor } a mis en pause { $subject } de { $owner }.
activity-resumed = { $actor } a repris { $subject }.
activity-resumed-for = { $actor } a repris { $subject } de { $owner }.
activity-ended = { $actor } a terminé l’atelier { $subject }.
activity-ended-for = { $actor } a terminé l’atelier { $subject } de { $owner }.
activity-failed = { $actor } a mis en échec l’atelier { $subject }.
activity-failed-for = { $actor } a mis en échec l’atelier { $subject } de { $owner }.
activity-dismissed = { $actor } a retiré l’atelier { $subject }, qui avait échoué.
activity-dismissed-for = { $actor } a retiré l’atelier { $subject } de { $owner }, qui avait échoué.
activity-template-created = { $actor } a créé le modèle { $subject }.
activity-template-changed = { $actor } a modifié le modèle { $subject }.
activity-template-changed-fields = { $actor } a modifié le modèle { $subject } : { $fields }.
activity-joined = { $first }, { $second }
activity-template-archived = { $actor } a archivé le modèle { $subject }.
activity-template-restored = { $actor } a restauré le modèle { $subject }.
activity-class-created = { $actor } a créé le cours { $subject }.
activity-class-changed = { $actor } a modifié le cours { $subject }.
activity-join-link-created = { $actor } a créé un lien d’inscription du cours { $subject }.
activity-join-link-revoked = { $actor } a révoqué le lien d’inscription du cours { $subject }.
activity-class-message-sent = { $actor } a envoyé un message au cours { $subject }.
activity-member-added = { $actor } a rejoint le cours { $subject }.
activity-member-added-for = { $actor } a ajouté { $owner } au cours { $subject }.
activity-member-changed = { $actor } a reçu un autre rôle dans le cours { $subject }.
activity-member-changed-for = { $actor } a donné à { $owner } un autre rôle dans le cours { $subject }.
activity-member-removed = { $actor } a quitté le cours { $subject }.
activity-member-removed-for = { $actor } a retiré { $owner } du cours { $subject }.
activity-volume-deleted = { $actor } a supprimé le travail enregistré de { $subject }.
activity-volume-deleted-for = { $actor } a supprimé le travail enregistré de { $owner } dans { $subject }.
activity-files-downloaded = { $actor } a téléchargé le travail enregistré de { $subject }.
activity-files-downloaded-for = { $actor } a téléchargé le travail enregistré de { $owner } dans { $subject }.
downloads-by-others = Téléchargements de vos fichiers par des administrateurs

activity-service = Le service

activity-ended-alone = L’atelier { $subject } de { $owner } s’est terminé.
activity-ended-alone-why = L’atelier { $subject } de { $owner } s’est terminé. { $reason }.
activity-suspended-alone = { $subject } de { $owner } a été mis en pause, car son temps était écoulé.
activity-failed-alone = L’atelier { $subject } de { $owner } a échoué.
activity-failed-alone-why = L’atelier { $subject } de { $owner } a échoué. { $reason }.
