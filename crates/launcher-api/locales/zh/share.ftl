### Texts of the link that a teacher shares.

share = 分享此模板
copy-link = 复制链接
copied = 链接已复制
show-qr-code = 二维码
qr-code = 此模板链接的二维码
