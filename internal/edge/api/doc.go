// Package api is the service over HTTP: one list of routes, and from each line of it authentication, authorization, rate limits,
// strict decoding, idempotency, the error body and the OpenAPI description.
package api
