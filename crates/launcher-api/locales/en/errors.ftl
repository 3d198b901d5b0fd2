### Texts of the error pages.

# Text around the request id on the page of an internal error.
quote-number = If you ask for help, give this request ID: { $value }

# Link to the login page.
sign-in = Sign in

# Link to the start page.
to-workshops = To the workshops

# Title for a login request that reached the launcher, because no auth proxy intercepted it.
no-login-title = There is no login proxy at this address

# Remedy for administrators if a login request reaches the launcher.
no-login = The launcher received a login request, but it has no login of its own. Put a login proxy in front of it, or set SERVICE_LOGIN_URL to the address of one. To try the launcher on this machine without a login proxy, use make run, or start it with SERVICE_REQUIRE_AUTHENTICATION=false and SERVICE_DEV_IDENTITY=you@example.org. docs/settings.md explains these settings.

# Title of the page after signing out.
signed-out-title = You are signed out

# Next steps after signing out, for users of a shared computer.
signed-out = Your workshops keep running until they end. You may still be signed in at your login provider. On a shared computer, sign out there too, or close the browser.

# Link to sign in again.
sign-in-again = Sign in again

# Error if the URL of a page has an invalid parameter.
bad-address = The address of this page has an invalid parameter.

# Errors of forms that cannot be read.
form-too-large = The form is too large.

form-of-another-kind = The form has the wrong content type. Use the form on the page.

form-of-another-page = The form has missing or unknown fields.

form-unreadable = The form is malformed, or did not arrive within 30 seconds.

# Title and text of the error pages, by the code of the problem.
error-authentication-required = Please sign in
    .text = You are not signed in, or your session has ended.
error-identity-unproven = This address skips the sign-in
    .text = Your request did not pass the sign-in. Open the address that you were given. If you already did, tell an administrator: the auth proxy and the launcher have different secrets.
error-admin-only = Only for administrators
    .text = You are signed in, but you are not an administrator.
error-cross-site-request = The action was refused
    .text = The request came from another site. Nothing was changed. Open the page of this service again and repeat the action there.
error-not-found = Page not found
    .text = This page does not exist, or it is not yours. If it was a workshop, it may have ended long ago.
error-version-mismatch = Another administrator changed it first
    .text = The template changed after you loaded the page. Your change is not saved. Load the page again and repeat it.
error-body-too-large = The form is too large
    .text = Nothing was saved. Go back, shorten your text, and send it again.
error-invalid-fields = The form was not accepted
    .text = Nothing was changed. Load the page again and repeat the action.
error-unavailable = Please try again in a moment
    .text = The service cannot answer right now. Running workshops are not affected.
error-internal = The service had an error
    .text = The error was recorded. Running workshops are not affected. Try again in a moment.
# Title of the page of any other problem. Its text is the problem's own.
error-other = The request failed

# Title of the page of a short link that no workshop has. $link: the link.
unknown-link = No workshop has the link “{ $link }”

# Advice on this page.
unknown-link-advice = Compare the link with the slide, letter by letter. If it is the same, ask your teacher: the link may have changed. The start page shows all workshops that you can launch.
