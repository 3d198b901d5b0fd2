### Texts of the link that a teacher shares.

# Label that opens the link and its QR code, on a template's page.
share = Share this template

# Button that copies the link to a template.
copy-link = Copy link

# Announcement after the link was copied.
copied = Link copied

# Link from the list of templates to the QR code.
show-qr-code = QR code

# Name of the QR code for screen readers.
qr-code = QR code of the link to this template
