### Texts of the link that a teacher shares.

share = مشاركة هذا القالب
copy-link = نسخ الرابط
copied = تم نسخ الرابط
show-qr-code = رمز QR
qr-code = رمز QR لرابط هذا القالب
