// Package oauthapi serves the OAuth endpoints that apps call: token, revocation and registration, and the documents by which apps find
// them. The page on which people allow apps access is served by another package.
//
// Addresses in what it serves begin with the public address of the service that is configured, whatever the request says about its host.
package oauthapi
