package apitest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/id"
)

// WantError expects an error with a status that names exactly these fields and whose text contains a message.
func WantError(t *testing.T, what string, err error, status int, fields []string, says string) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %v, want a refusal", what, err)
		return
	}
	named := map[string]bool{}
	for _, f := range e.Fields {
		named[f.Field] = true
	}
	code := map[int]string{400: "VALIDATION_ERROR", 404: "RESOURCE_NOT_FOUND", 409: "CONFLICT"}[status]
	if e.Status != status || e.Code != code || !slices.Equal(slices.Sorted(maps.Keys(named)), slices.Sorted(slices.Values(fields))) ||
		!strings.Contains(e.Error(), says) {
		t.Errorf("%s: %v, want %d that names %q and says %q", what, err, status, fields, says)
	}
}

// WantConflict expects a 409 whose message contains all of some texts.
func WantConflict(t *testing.T, err error, says ...string) {
	t.Helper()
	var e *client.Error
	if err == nil || !errors.As(err, &e) || e.Status != 409 || e.Code != "CONFLICT" {
		t.Errorf("%v, want a conflict", err)
		return
	}
	for _, text := range says {
		if !strings.Contains(e.Message, text) {
			t.Errorf("%q does not say %q", e.Message, text)
		}
	}
}

// UnknownID returns an id of the same type that does not exist.
func UnknownID(known string) string {
	prefix, _, _ := strings.Cut(known, "_")
	return id.NewSource(clock.System{}, rand.Reader).New(id.Prefix(prefix))
}

// JSON returns a value as JSON text, for messages and comparisons.
func JSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
