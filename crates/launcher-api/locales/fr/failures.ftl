### Failures of a workshop, by code. The remedy says what the reader can do, and if files are lost.

failure-image-pull-failed = Le cluster n’a pas pu télécharger l’image de l’atelier.
failure-remedy-image-pull-failed = Prévenez votre enseignant ou un administrateur : le modèle indique une mauvaise image, ou le registre refuse l’accès.
failure-crashed = Le programme de l’atelier s’est arrêté de façon inattendue.
failure-remedy-crashed = Les fichiers non enregistrés ailleurs sont perdus. Relancez l’atelier, ou montrez ses derniers messages à votre enseignant.
failure-out-of-memory = L’atelier a dépassé sa limite de mémoire.
failure-remedy-out-of-memory = Les fichiers non enregistrés ailleurs sont perdus. Relancez l’atelier et chargez moins de données, ou demandez plus de mémoire.
failure-unschedulable = Aucun nœud n’a assez de place pour cet atelier en ce moment.
failure-remedy-unschedulable = Réessayez dans quelques minutes. Si l’échec se répète, demandez plus de place à un administrateur.
failure-start-timeout = L’atelier n’a pas été prêt à temps.
failure-remedy-start-timeout = Relancez-le. S’il est de nouveau trop lent, prévenez votre enseignant ou un administrateur.
failure-quota-exceeded = Le quota d’ateliers est épuisé.
failure-remedy-quota-exceeded = Réessayez quand d’autres ateliers seront terminés, ou demandez un quota plus élevé à un administrateur.
failure-evicted = Le cluster a arrêté l’atelier, car son nœud manquait de mémoire ou d’espace disque.
failure-remedy-evicted = Les fichiers non enregistrés ailleurs sont perdus. Relancez l’atelier.
failure-node-lost = Le cluster a perdu le nœud de cet atelier.
failure-remedy-node-lost = Les fichiers non enregistrés ailleurs sont perdus. Relancez l’atelier.
failure-invalid-spec = Le modèle de l’atelier contient des paramètres non valides.
failure-remedy-invalid-spec = Prévenez votre enseignant ou un administrateur : le modèle doit être corrigé.
failure-app-not-available = Le programme de l’atelier n’est pas installé ici.
failure-remedy-app-not-available = Prévenez un administrateur : il faut installer le programme ou corriger le modèle.
failure-network-not-isolated = L’atelier n’a pas démarré, car le cluster n’a pas isolé son réseau.
failure-remedy-network-not-isolated = Relancez-le. Si l’échec se répète, prévenez un administrateur : le cluster doit appliquer ses règles réseau (network policies).
