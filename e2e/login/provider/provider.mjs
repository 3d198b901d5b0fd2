// An OpenID provider that keeps sessions, as those of institutions do: each browser logs in once.
// The password of every user is "password". The provider listens on PORT. Its issuer is http://sso.test:PORT.

import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const PORT = Number(process.env.PORT ?? 5557);
const CLIENT = "launcher";
const SCOPE = "openid email profile";
const PASSWORD = "password";
const MOST_FORM_BYTES = 4096;

/** Returns this number of group names. They look like UUIDs, as in directory services, and do not compress. */
const groups = (count) =>
  Array.from({ length: count }, (_, number) => {
    const hex = createHash("sha256").update(`group ${number}`).digest("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
  });

const PEOPLE = new Map([
  ["alice@example.org", groups(2)],
  ["bob@example.org", groups(2)],
  ["admin@example.org", groups(2)],
  ["many@example.org", groups(600)],
  ["teacher@example.org", groups(2)],
  // The students of e2e/browser/class-day.mjs.
  ...Array.from({ length: 33 }, (_, index) => [`student-${index + 1}@example.org`, groups(2)]),
]);

function signingKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" };
}

function findAccount(_, email) {
  const claims = { sub: email, email, email_verified: true, groups: PEOPLE.get(email) };
  return PEOPLE.has(email) ? { accountId: email, claims: () => claims } : undefined;
}

/** Grants all scopes of the client without asking the user for consent. */
async function loadExistingGrant({ oidc }) {
  const known = oidc.session.grantIdFor(oidc.client.clientId);
  if (known) return oidc.provider.Grant.find(known);
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
  grant.addOIDCScope(SCOPE);
  await grant.save();
  return grant;
}

// Contains an icon, so that browsers do not request a missing one.
const page = (body) => `<!doctype html>
<html lang="en">
<title>Single sign-on</title>
<link rel="icon" href="data:,">
<h1>Single sign-on</h1>
${body}`;

/** Asks for confirmation of a sign-out, if the request has no ID token hint. */
function logoutSource(ctx, form) {
  ctx.body = page(`${form}<button form="op.logoutForm" type="submit" name="logout" value="yes">Sign out</button>`);
}

const provider = new Provider(`http://sso.test:${PORT}`, {
  clients: [
    {
      client_id: CLIENT,
      client_secret: "secret-of-the-launcher-for-tests",
      redirect_uris: ["https://launcher.test/oauth2/callback", "https://login.workshops.test/oauth2/callback"],
      post_logout_redirect_uris: ["https://launcher.test/signed-out"],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
  // The ID token has all claims, as at most providers, so a login proxy needs no further request.
  conformIdTokenClaims: false,
  cookies: { keys: [randomBytes(32).toString("hex")] },
  jwks: { keys: [signingKey()] },
  features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
  ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600 },
  interactions: { url: (_, interaction) => `/login/${interaction.uid}` },
  findAccount,
  loadExistingGrant,
});

const loginPage = (uid, refused) =>
  page(`${refused ? "<p>Wrong address or password.</p>" : ""}
<form method="post" action="/login/${uid}">
<input name="login" required>
<input name="password" type="password" required>
<button type="submit">Log in</button>
</form>`);

async function readForm(request) {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > MOST_FORM_BYTES) throw new Error("the form is too large");
  }
  return new URLSearchParams(text);
}

async function logIn(request, response) {
  const { uid } = await provider.interactionDetails(request, response);
  const form = request.method === "POST" ? await readForm(request) : new URLSearchParams();
  const email = form.get("login");
  if (PEOPLE.has(email) && form.get("password") === PASSWORD) {
    await provider.interactionFinished(request, response, { login: { accountId: email } });
    return;
  }
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
  response.end(loginPage(uid, email !== null));
}

const answer = provider.callback();
const server = createServer((request, response) => {
  if (!request.url.startsWith("/login/")) return answer(request, response);
  return logIn(request, response).catch((error) => response.writeHead(400).end(`${error.message}\n`));
});
server.listen(PORT);
// The first process of a container has no default signal handlers.
process.on("SIGTERM", () => process.exit(0));
