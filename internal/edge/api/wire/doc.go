// Package wire holds what every route of the API shares and what knows nothing of any domain: the description of a route, strict
// decoding of requests, the views that all answers are built from, and the table from kinds of failure to HTTP.
package wire
