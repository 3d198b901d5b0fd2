"""The sheet with first passwords, to print and to cut."""

import html

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>First passwords</title>
<style>
body {{ font: 14px/1.5 sans-serif; margin: 1cm; }}
section {{ border: 1px dashed #666; break-inside: avoid; margin-bottom: -1px; padding: .5cm; }}
h2 {{ font-size: 16px; margin: 0 0 .2cm; }}
p {{ margin: 0; }}
code {{ font: 18px monospace; }}
@media print {{ .note {{ display: none; }} }}
</style>
</head>
<body>
<p class="note">Print this page, cut it, and give each person their part. Then delete the file: it is the only place with
these passwords.</p>
{people}
</body>
</html>
"""

PERSON = """<section>
<h2>{name}</h2>
<p>Open <strong>{url}</strong></p>
<p>E-mail address: <code>{address}</code></p>
<p>Password: <code>{password}</code></p>
</section>"""


def render(url, issued):
    """Returns the sheet as HTML. `issued` is [(address, name, password)]."""
    people = [
        PERSON.format(
            name=html.escape(name or address),
            url=html.escape(url),
            address=html.escape(address),
            password=html.escape(password),
        )
        for address, name, password in issued
    ]
    return PAGE.format(people="\n".join(people)).encode()
