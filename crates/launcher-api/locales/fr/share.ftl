### Texts of the link that a teacher shares.

share = Partager ce modèle

copy-link = Copier le lien

copied = Lien copié

show-qr-code = QR code

qr-code = QR code du lien vers ce modèle
