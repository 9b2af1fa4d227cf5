// Reads a JSON list of messages with a secret, headers and a body, and prints for each whether standardwebhooks accepts it.
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const accepted = JSON.parse(readFileSync(0, "utf8")).map(({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
});
console.log(JSON.stringify(accepted));
