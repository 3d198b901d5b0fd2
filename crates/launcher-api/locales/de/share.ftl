### Texts of the link that a teacher shares.

share = Diese Vorlage teilen

copy-link = Link kopieren

copied = Link kopiert

show-qr-code = QR-Code

qr-code = QR-Code des Links zu dieser Vorlage
