// An HTTP client that imitates a browser: host names, cookies, redirects, and the login form of a provider.

import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";

const MOST_REDIRECTS = 12;
const PAGE = { Accept: "text/html,application/xhtml+xml", "Sec-Fetch-Site": "none" };
export const JSON_ONLY = { Accept: "application/json" };

const unescaped = (value) => value.replaceAll("&amp;", "&").replaceAll("&#38;", "&");

/** One browser profile. It stores cookies by domain, as browsers do. It trusts every certificate. */
export class Visitor {
  #cookies = new Map();
  #addressOf;
  #email;
  #password;

  /** `addressOf` returns the IP address of a host. */
  constructor(addressOf, email, password) {
    this.#addressOf = addressOf;
    this.#email = email;
    this.#password = password;
  }

  /** Sends one request with the cookies of this profile. Does not follow redirects. */
  async request(method, url, headers = {}, body = undefined) {
    const { protocol, hostname, host, port, pathname, search } = new URL(url);
    const cookies = [...this.#cookies.values()].filter(
      ({ domain, isHostOnly, path }) =>
        (hostname === domain || (!isHostOnly && hostname.endsWith(`.${domain}`))) && pathname.startsWith(path),
    );
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const options = {
      method,
      host: this.#addressOf(hostname),
      port: port || undefined,
      path: pathname + search,
      servername: hostname,
      rejectUnauthorized: false,
      agent: false,
      headers: { Host: host, ...(cookie && { Cookie: cookie }), ...headers },
    };
    const sent = (protocol === "https:" ? https : http).request(options);
    sent.end(body);
    const [answer] = await once(sent, "response");
    for (const line of answer.headers["set-cookie"] ?? []) this.#keep(hostname, line);
    const location = answer.headers.location && new URL(answer.headers.location, url).href;
    return { url, status: answer.statusCode, location, text: await text(answer) };
  }

  #keep(host, line) {
    const [[name, ...value], ...attributes] = line.split(";").map((part) => part.trim().split("="));
    const given = new Map(attributes.map(([key, ...rest]) => [key.toLowerCase(), rest.join("=")]));
    const domain = (given.get("domain") || host).replace(/^\./, "");
    const isGone = given.get("max-age") === "0" || given.get("expires")?.includes("1970") || value.join("=") === "";
    const key = `${domain} ${name}`;
    if (isGone) this.#cookies.delete(key);
    else this.#cookies.set(key, { domain, name, value: value.join("="), path: given.get("path") || "/", isHostOnly: !given.get("domain") });
  }

  /** Follows redirects, and fills in the login form of the provider. Returns the last answer. */
  async follow(answer) {
    let [last, hasLoggedIn] = [answer, false];
    for (let count = 0; count < MOST_REDIRECTS; count += 1) {
      if (last.location && last.status >= 300 && last.status < 400) {
        last = await this.request("GET", last.location, PAGE);
      } else if (last.text.includes('name="password"')) {
        assert.ok(!hasLoggedIn, `the login of ${this.#email} was refused: ${last.text.slice(0, 500)}`);
        hasLoggedIn = true;
        const action = unescaped(/<form[^>]*action="([^"]*)"/.exec(last.text)[1]);
        const fields = new URLSearchParams({ login: this.#email, password: this.#password });
        last = await this.#post(new URL(action, last.url).href, fields);
      } else {
        return last;
      }
    }
    throw new Error(`too many redirects, the last to ${last.url}`);
  }

  /** Opens a page. Returns the last answer. */
  async open(url) {
    return this.follow(await this.request("GET", url, PAGE));
  }

  /** Submits the form of a page whose action begins with these characters, with its hidden fields. Returns the last answer. */
  async submit(page, action) {
    const form = page.text.split("<form").find((part) => part.includes(` action="${action}`))?.split("</form>")[0];
    assert.ok(form, `expected a form for ${action} at ${page.url}: ${page.text.slice(0, 2000)}`);
    const target = unescaped(/ action="([^"]*)"/.exec(form)[1]);
    const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, unescaped(value)]);
    return this.follow(await this.#post(new URL(target, page.url).href, new URLSearchParams(fields)));
  }

  #post(url, fields) {
    const headers = { ...PAGE, "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin" };
    return this.request("POST", url, headers, fields.toString());
  }
}
