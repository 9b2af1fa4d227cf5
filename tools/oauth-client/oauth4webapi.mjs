// Connects to the service with oauth4webapi: discovery, authorization with PKCE, refreshing, revocation, and what it refuses.
import * as oauth from "oauth4webapi";
import { finish, settings, use, visit } from "./exchange.mjs";

const insecure = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(settings.issuer);
const server = await oauth.processDiscoveryResponse(issuer,
  await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure }));
const resource = await oauth.processResourceDiscoveryResponse(issuer, await oauth.resourceDiscoveryRequest(issuer, insecure));
const client = { client_id: settings.client_id };
const none = oauth.None();

async function connect() {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint);
  for (const [name, value] of Object.entries({
    client_id: client.client_id, response_type: "code", redirect_uri: settings.redirect_uri, scope: "apis.read", state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
  })) address.searchParams.set(name, value);
  const back = await visit(address);
  return { back, state, verifier };
}

const { back, state, verifier } = await connect();
const mixedUp = new URL(back);
mixedUp.searchParams.set("iss", "https://evil.example");
let mixUp = "accepted";
try {
  oauth.validateAuthResponse(server, client, mixedUp, state);
} catch (error) {
  mixUp = error.name;
}
const parameters = oauth.validateAuthResponse(server, client, back, state);
const tokens = await oauth.processAuthorizationCodeResponse(server, client,
  await oauth.authorizationCodeGrantRequest(server, client, none, parameters, settings.redirect_uri, verifier, insecure));
const first = await use(tokens.access_token);
const next = await oauth.processRefreshTokenResponse(server, client,
  await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token, insecure));
const second = await use(next.access_token);
await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, none, next.refresh_token, insecure));
const revoked = await use(next.access_token);
let refused = "accepted";
try {
  await oauth.processRefreshTokenResponse(server, client,
    await oauth.refreshTokenGrantRequest(server, client, none, next.refresh_token, insecure));
} catch (error) {
  refused = error.error;
}
finish({ first, second, revoked, refused, mix_up: mixUp, rotated: tokens.refresh_token !== next.refresh_token, scope: next.scope,
  authorization_servers: resource.authorization_servers });
