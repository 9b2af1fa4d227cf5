// Passes the question of a form on to the device of the person, and sends the form with what the device answers.
"use strict";
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  // The library of the service writes bytes as text; browsers want bytes.
  const decode = (options) => {
    options.challenge = bytes(options.challenge);
    if (options.user) options.user.id = bytes(options.user.id);
    for (const list of [options.excludeCredentials, options.allowCredentials]) {
      for (const one of list || []) one.id = bytes(one.id);
    }
    return options;
  };
  const encode = (made) => {
    const out = {id: made.id, rawId: text(made.rawId), type: made.type, response: {}};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (made.response[name]) out.response[name] = text(made.response[name]);
    }
    return JSON.stringify(out);
  };
  // What went wrong, in the words of the service rather than those of the browser.
  const troubles = {
    NotAllowedError: "It was cancelled, or took too long. Try again.",
    InvalidStateError: "This device has a passkey for your account already.",
    SecurityError: "Passkeys do not work at this address. Ask the operator of the service.",
  };

  if (!window.PublicKeyCredential || !navigator.credentials) return;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const button = form.querySelector("button");
    const trouble = form.querySelector("[data-trouble]");
    form.hidden = false;
    const use = async () => {
      if (!form.reportValidity()) return;
      trouble.hidden = true;
      button.disabled = true;
      try {
        const {publicKey} = JSON.parse(form.dataset.options);
        const made = await navigator.credentials[form.dataset.passkey]({publicKey: decode(publicKey)});
        form.elements.answer.value = encode(made);
        form.submit();
      } catch (error) {
        trouble.textContent = troubles[error.name] || "The device did not answer. Try again, or sign in another way.";
        trouble.hidden = false;
        button.disabled = false;
      }
    };
    button.addEventListener("click", use);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      use();
    });
  }
  for (const one of document.querySelectorAll("[data-without]")) one.hidden = true;
})();
