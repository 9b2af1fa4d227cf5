package site

import (
	"context"
	"net/http"
)

// LocalPath is localPath, for tests.
var LocalPath = localPath

// Patterns returns the patterns of all pages, for tests.
func (s *Site) Patterns() (out []string) {
	for _, r := range s.routes() {
		out = append(out, r.pattern)
	}
	return out
}

// Failing returns a page that fails with what a function returns, for tests.
func (s *Site) Failing(why func(context.Context) error) http.Handler {
	return s.handler(route{pattern: "GET /failing", serve: func(v *visit) error { return why(v.r.Context()) }})
}

// Panicking returns a page that panics with a text, for tests.
func (s *Site) Panicking(text string) http.Handler {
	return s.handler(route{pattern: "GET /panic", serve: func(*visit) error { panic(text) }})
}
