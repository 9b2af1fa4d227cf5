package site

import "net/http"

// LocalPath is localPath, for tests.
var LocalPath = localPath

// Patterns returns the patterns of all pages, for tests.
func (s *Site) Patterns() (out []string) {
	for _, r := range s.routes() {
		out = append(out, r.pattern)
	}
	return out
}

// Panicking returns a page that panics with a text, for tests.
func (s *Site) Panicking(text string) http.Handler {
	return s.handler(route{pattern: "GET /panic", serve: func(*visit) error { panic(text) }})
}
