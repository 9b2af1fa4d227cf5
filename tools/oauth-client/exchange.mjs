// How a test and a client talk: the test sends the redirect address of the app on one line, for the address on which the client has asked
// for access. The last line that the client prints is what it got.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export const settings = JSON.parse((await lines.next()).value);

// visit has a person visit an address, and returns the one that the person is sent back to.
export async function visit(address) {
  console.log(JSON.stringify({ visit: address.href }));
  return new URL((await lines.next()).value);
}

// use calls the API with an access token and returns the status.
export async function use(token) {
  const response = await fetch(settings.issuer + "/v1/tags", { headers: { authorization: `Bearer ${token}` } });
  return response.status;
}

export function finish(result) {
  console.log(JSON.stringify(result));
  process.exit(0);
}
