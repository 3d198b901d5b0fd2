### Texts of the link that a teacher shares.

share = Compartir esta plantilla

copy-link = Copiar enlace

copied = Enlace copiado

show-qr-code = Código QR

qr-code = Código QR del enlace a esta plantilla
