package api

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// gzipFrom is the size below which compression costs more than it saves.
const gzipFrom = 1400

// response records the status for metrics, and whether the answer has begun.
type response struct {
	http.ResponseWriter
	status int
	begun  bool

	route          *wire.Route // that serves the request, if one does
	organizationID string      // of the caller, once that is known
}

// WriteHeader records the status.
func (r *response) WriteHeader(status int) {
	if !r.begun {
		r.status, r.begun = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write records that the answer has begun.
func (r *response) Write(b []byte) (int, error) {
	if !r.begun {
		r.WriteHeader(http.StatusOK)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// zippers compress at the fastest level: a better ratio takes longer than sending the bytes it saves.
var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for unknown levels
	return z
}}

// send writes a complete answer.
func (a *API) send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if len(body) >= gzipFrom {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			body = zip(body)
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // nothing can be done if the client has left
}

func zip(body []byte) []byte {
	var b bytes.Buffer
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(&b)
	_, _ = z.Write(body) // writing to a buffer does not fail
	_ = z.Close()
	return b.Bytes()
}

func acceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(header, ",") {
			name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
			if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
