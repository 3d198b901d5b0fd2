"""The app of the browser tests. The variable PAGES has its pages as JSON: {path: HTML, or {status, headers, html}}.

The page "*" is any other path; its HTML may contain PATH, the path of the request. `/crash` ends the app, and `/requests` returns
the paths of all requests. With the variable GATE, frames get no answer before a file of this name exists.
"""

import http.server
import json
import os
import time

PAGES = json.loads(os.environ["PAGES"])
SEEN = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        SEEN.append(self.path)
        path = self.path.split("?")[0]
        if path == "/crash":
            os._exit(1)
        while "GATE" in os.environ and self.headers["Sec-Fetch-Dest"] == "iframe" and not os.path.exists(os.environ["GATE"]):
            time.sleep(0.05)  # pacing: between two looks at the gate
        page = json.dumps(SEEN) if path == "/requests" else PAGES.get(path, PAGES.get("*", ""))
        page = page if isinstance(page, dict) else {"html": page}
        body = page["html"].replace("PATH", self.path).encode()
        self.send_response(page.get("status", 200))
        headers = {"Content-Type": "text/html", "Content-Length": str(len(body))} | page.get("headers", {})
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
