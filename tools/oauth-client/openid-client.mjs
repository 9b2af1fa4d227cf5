// Connects to the service with openid-client: discovery, authorization with PKCE, refreshing and revocation.
import * as client from "openid-client";
import { finish, settings, use, visit } from "./exchange.mjs";

const config = await client.discovery(new URL(settings.issuer), settings.client_id, undefined, client.None(),
  { algorithm: "oauth2", execute: [client.allowInsecureRequests] });
const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const back = await visit(client.buildAuthorizationUrl(config, {
  redirect_uri: settings.redirect_uri, scope: "apis.read", state,
  code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
}));
const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state });
const first = await use(tokens.access_token);
const next = await client.refreshTokenGrant(config, tokens.refresh_token);
const second = await use(next.access_token);
await client.tokenRevocation(config, next.refresh_token);
const revoked = await use(next.access_token);
let refused = "accepted";
try {
  await client.refreshTokenGrant(config, next.refresh_token);
} catch (error) {
  refused = error.error;
}
finish({ first, second, revoked, refused, rotated: tokens.refresh_token !== next.refresh_token, scope: next.scope });
