// A proxy in front of a launcher, in place of the auth proxy.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Starts a proxy that adds these headers to every request. `tls` has the key and the certificate of its HTTPS; without it, the
 * proxy speaks HTTP.
 */
export async function startProxy(test, port, upstreamPort, added, tls) {
  const target = (request) => ({
    host: "127.0.0.1",
    port: upstreamPort,
    method: request.method,
    path: request.url,
    // One connection for each request: the launcher may close an idle connection at the moment of its reuse.
    agent: false,
    headers: { ...request.headers, ...added },
  });
  const forward = (request, response) => {
    const upstream = http.request(target(request), (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    upstream.on("error", () => response.destroy());
    response.on("close", () => response.writableFinished || upstream.destroy());
    request.pipe(upstream);
  };
  const proxy = tls ? https.createServer(tls, forward) : http.createServer(forward);
  proxy.on("upgrade", (request, client, head) => {
    const upstream = connect(upstreamPort, "127.0.0.1", () => {
      const { method, path, headers } = target(request);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      upstream.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  proxy.listen(port, "127.0.0.1");
  await once(proxy, "listening");
  test.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
}

/** Creates a key and a certificate that no browser trusts: open its pages with `ignoreHTTPSErrors`. */
export async function certificate(test, domain) {
  const folder = await mkdtemp(join(tmpdir(), "launcher-tls-"));
  test.after(() => rm(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = `subjectAltName=DNS:${domain},DNS:*.${domain}`;
  const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...options, "-keyout", key, "-out", cert, "-subj", `/CN=${domain}`, "-addext", names], {
    stdio: "ignore",
  });
  return { key: await readFile(key), cert: await readFile(cert) };
}
