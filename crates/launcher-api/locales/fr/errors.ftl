### Texts of the error pages.

quote-number = Si vous demandez de l’aide, indiquez cet identifiant de requête : { $value }

sign-in = Se connecter

to-workshops = Aller aux ateliers

no-login-title = Aucun proxy d’authentification à cette adresse

no-login = Workshop Launcher a reçu une demande de connexion, mais ne gère pas lui-même les connexions. Placez un proxy d’authentification devant lui, ou indiquez l’adresse d’un tel proxy dans SERVICE_LOGIN_URL. Pour essayer Workshop Launcher sur cette machine sans proxy d’authentification, utilisez make run, ou démarrez-le avec SERVICE_REQUIRE_AUTHENTICATION=false et SERVICE_DEV_IDENTITY=you@example.org. Ces paramètres sont expliqués dans docs/settings.md.

signed-out-title = Déconnexion effectuée

signed-out = Vos ateliers continuent jusqu’à leur fin. Votre session est peut-être encore ouverte auprès de votre service d’authentification. Sur un ordinateur partagé, déconnectez-vous aussi de ce service, ou fermez le navigateur.

sign-in-again = Se reconnecter

bad-address = L’adresse de cette page contient un paramètre non valide.

form-too-large = Le formulaire est trop volumineux.

form-of-another-kind = Le type de contenu du formulaire est incorrect. Utilisez le formulaire de la page.

form-of-another-page = Le formulaire contient des champs inconnus, ou il en manque.

form-unreadable = Le formulaire est mal formé, ou n’est pas arrivé dans les 30 secondes.

error-authentication-required = Veuillez vous connecter
    .text = Vous n’avez pas ouvert de session, ou votre session a expiré.
error-identity-unproven = Cette adresse contourne l’authentification
    .text = Votre requête n’est pas passée par l’authentification. Ouvrez l’adresse qui vous a été donnée. Si vous l’avez déjà fait, signalez-le à un administrateur : le proxy d’authentification et Workshop Launcher n’ont pas le même secret.
error-admin-only = Réservé aux administrateurs
    .text = Votre session est ouverte, mais votre compte n’a pas les droits d’administrateur.
error-cross-site-request = L’action a été refusée
    .text = La requête venait d’un autre site. Rien n’a été modifié. Rouvrez la page de ce service et recommencez l’action.
error-not-found = Page introuvable
    .text = Cette page n’existe pas, ou vous n’y avez pas accès. S’il s’agissait d’un atelier, il est peut-être terminé depuis longtemps.
error-version-mismatch = Un autre administrateur l’a modifié avant vous
    .text = Le modèle a changé depuis que vous avez chargé la page. Votre modification n’est pas enregistrée. Rechargez la page et recommencez.
error-body-too-large = Le formulaire est trop volumineux
    .text = Rien n’a été enregistré. Revenez en arrière, raccourcissez votre texte et renvoyez-le.
error-invalid-fields = Le formulaire n’a pas été accepté
    .text = Rien n’a été modifié. Rechargez la page et recommencez l’action.
error-unavailable = Veuillez réessayer dans un instant
    .text = Le service ne peut pas répondre pour le moment. Les ateliers en cours ne sont pas touchés.
error-internal = Une erreur s’est produite dans le service
    .text = L’erreur a été enregistrée. Les ateliers en cours ne sont pas touchés. Réessayez dans un instant.
error-other = La requête a échoué

unknown-link = Aucun atelier n’a le lien « { $link } »

unknown-link-advice = Comparez le lien avec la diapositive, lettre par lettre. S’il est identique, demandez à votre enseignant : le lien a peut-être changé. La page d’accueil montre tous les ateliers que vous pouvez lancer.
