// The service worker of the frame page. It handles no request. Browsers choose the worker with the longest scope: with this
// one, no worker of the app answers requests for the frame page or of it, whatever the scope of the app's worker is.
addEventListener("install", () => skipWaiting());
// Takes over open frame pages, also from a worker of the app.
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
