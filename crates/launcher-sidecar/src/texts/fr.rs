//! French texts.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "fr",
    direction: "ltr",
    workshop: "Atelier",
    bar: "Workshop Launcher",
    app: "Application",
    left: "{left} restantes",
    ends: "Fin : {time}",
    warning: "Cet atelier se termine dans {left}. Enregistrez votre travail.",
    over: "Cet atelier est terminé.",
    signed_out: "Vous êtes déconnecté. Rechargez cette page pour vous reconnecter.",
    crashed: "L’application a planté et a été redémarrée. Les fichiers enregistrés sont toujours là. Rechargez cette page.",
    out_of_memory: "L’application a manqué de mémoire et a été redémarrée. Les fichiers enregistrés sont toujours là. Rechargez cette page.",
    files_lost: "L’application a planté et a été redémarrée. Les fichiers non enregistrés ailleurs sont perdus. Rechargez cette page.",
    extend: "Prolonger",
    extend_hint: "la durée de cet atelier (dans une petite fenêtre)",
    home: "Accueil",
    launcher: "Retour à Workshop Launcher",
    not_yours: NoticeText {
        title: "Cet atelier n’est pas le vôtre",
        text: "Vous n’avez pas d’atelier à cette adresse. Il est peut-être terminé, ou il appartient à une autre \
               personne. Si vous l’avez lancé, connectez-vous avec le même compte.",
    },
    not_signed_in: NoticeText {
        title: "Non connecté",
        text: "La requête ne contient pas d’identité. Ouvrez l’atelier depuis Workshop Launcher et connectez-vous-y.",
    },
    unknown: NoticeText {
        title: "Atelier introuvable",
        text: "Il n’y a pas d’atelier à cette adresse. Il est peut-être terminé.",
    },
    starting: NoticeText {
        title: "L’atelier démarre",
        text: "L’atelier ne répond pas encore. Cette page se recharge toutes les 2 secondes jusqu’à sa réponse.",
    },
    no_answer: NoticeText {
        title: "L’atelier ne répond pas",
        text: "La connexion à l’application est perdue, ou l’application a envoyé une réponse non valide. Rechargez \
               cette page.",
    },
    failed: NoticeText { title: "Votre atelier a échoué", text: "La cause est inconnue." },
    terminated: NoticeText {
        title: "Votre atelier est terminé", text: "Il a été arrêté avant la fin de sa durée."
    },
    expired: NoticeText { title: "Votre atelier est terminé", text: "Sa durée est écoulée." },
};
