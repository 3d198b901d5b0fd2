// Starts Swagger UI, and adds what assistive technology needs to its markup.
"use strict";

(() => {
  const root = document.getElementById("swagger-ui");
  const hidden = () => () => null;
  // A link inside a button is not operable by keyboard. The button alone updates the address.
  const plain = (_, { React }) => ({ text }) => React.createElement("span", null, text);
  // The auth proxy sets the identity, so a page cannot choose it.
  const plugin = {
    wrapComponents: {
      DeepLink: plain,
      InfoContainer: hidden,
      ServersContainer: hidden,
      authorizeBtn: hidden,
      authorizeOperationBtn: hidden,
    },
  };

  const each = (selector, act) => root.querySelectorAll(selector).forEach(act);
  const mend = () => {
    each("select:not([aria-label])", (select) => {
      const named = select.closest("tr, label, .content-type-wrapper")?.querySelector("small, .parameter__name, h4, label");
      select.setAttribute("aria-label", named?.textContent.trim() || "Choice");
    });
    each("textarea:not([aria-label])", (area) => area.setAttribute("aria-label", "Request body"));
    each(".copy-to-clipboard button:not([aria-label])", (button) => button.setAttribute("aria-label", "Copy"));
    each("table[role=region]", (table) => table.removeAttribute("role"));
    each("pre:not([tabindex])", (pre) => pre.setAttribute("tabindex", "0"));
  };
  new MutationObserver(mend).observe(root, { childList: true, subtree: true });

  SwaggerUIBundle({
    url: root.dataset.url,
    domNode: root,
    deepLinking: true,
    validatorUrl: null,
    // Its colours are fixed, and have too little contrast in one of the two colour schemes.
    syntaxHighlight: false,
    plugins: [plugin],
  });
})();
