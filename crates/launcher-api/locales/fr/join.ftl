join-link = Lien d’inscription
join-link-until = Valable jusqu’au
join-link-closed = Le lien n’admet plus personne.
join-link-show = Afficher le code
join-link-revoke = Révoquer le lien
join-link-none = Le cours n’a pas de lien d’inscription.
join-link-new = Nouveau lien
join-link-valid = Valable
join-link-seats = Nombre de places
join-link-seats-hint = Vide : sans limite.
join-link-domain = Seulement les adresses du domaine
join-link-domain-hint = Vide : toutes les personnes qui peuvent se connecter.
join-link-members-only = Seulement mener les membres au cours, sans ajouter personne
join-link-create = Créer le lien
join-with = Rejoindre le cours
join-qr = Code QR du lien d’inscription
join-title = Rejoindre un cours
join-refused = Ce lien ne vous permet pas de rejoindre le cours
join-button = Rejoindre
join-code = Code
join-code-hint = 10 lettres et chiffres, comme votre enseignant les affiche.
join-continue = Continuer
join-unknown = Aucun cours n’a ce code. Comparez-le, caractère par caractère, avec celui que votre enseignant affiche.
join-enter = Rejoindre un cours avec un code
back-to-class = Retour au cours
join-link-joined = { $people ->
    [one] { $people } personne a rejoint le cours
   *[other] { $people } personnes ont rejoint le cours
}
join-link-joined-of = { $people } places prises sur { $seats }
join-link-days = { $days ->
    [one] { $days } jour
   *[other] { $days } jours
}
join-question = Vous êtes connecté en tant que { $email }. Rejoindre ce cours ?
join-account = Vous êtes connecté en tant que { $email }.
join-too-many = Vous avez essayé beaucoup de codes inexacts. Réessayez dans { $minutes ->
    [one] { $minutes } minute
   *[other] { $minutes } minutes
}.
