// Package api is the HTTP server of the service. The routes are declared by the packages below it, one per domain group; from each of
// them follow authentication, authorization, rate limits, strict decoding, idempotency, the error body and the OpenAPI description.
package api
