// Package oauth lets apps act for people: an app sends a person to the consent page, gets a code, exchanges it for an access token and a
// refresh token, and refreshes them (RFC 6749 with PKCE, RFC 7636). Every app is a public client: it has no secret, and proves by PKCE that
// it is the one that asked.
//
// A token contains the id of its organization, so that it is looked up there. Only hashes of tokens are stored. Those that a refresh token
// is exchanged for follow from its own text and a random salt in the database: a repeated request gets the same ones, and neither the
// database nor the former token reveals them alone.
package oauth
