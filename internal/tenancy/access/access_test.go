package access

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// issued creates a key of an organization that has nothing else.
func issued(t *testing.T, d *db.DB, p CreateKeyParams) (Key, string) {
	t.Helper()
	var key Key
	var text string
	err := d.Write(t.Context(), d.IDs().New(id.Organization), func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO organizations (organization_id, name, timezone, time_format, created_at) VALUES (@org, "+
			"'x', 'UTC', 'hr24', ?)", tx.Now())
		if err != nil {
			return err
		}
		if err := orgstate.Begin(ctx, tx); err != nil {
			return err
		}
		k, plain, err := IssueKey(ctx, tx, p)
		key, text = k, plain.Reveal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

func TestOnlyTheHashOfAKeyIsStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, text := issued(t, d, CreateKeyParams{Name: "k", Scopes: []actor.Scope{actor.ScopeRead}})
		for _, table := range []string{"api_keys", "audit_log"} {
			columns := map[string]string{"api_keys": "key_hash || last_four || name", "audit_log": "after"}[table]
			err := d.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
				rows, err := db.All[string](ctx, tx, "SELECT "+columns+" FROM "+table)
				if joined := strings.Join(rows, " "); len(rows) != 1 || strings.Contains(joined, text) || strings.Contains(joined, text[4:20]) {
					t.Errorf("%s: %v", table, rows)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAKeyThatExpiresStopsAtThatInstant(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		c.Clock = now
		d := dbtest.Open(t, c)
		end := now.Now().Add(100 * time.Millisecond)
		_, text := issued(t, d, CreateKeyParams{Name: "k", Scopes: []actor.Scope{actor.ScopeRead}, ExpiresAt: &end})
		s := NewService(d)
		if _, err := s.Authenticate(t.Context(), secret.New(text)); err != nil {
			t.Error(err)
		}
		now.Advance(100 * time.Millisecond)
		if _, err := s.Authenticate(t.Context(), secret.New(text)); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%v", err)
		}
	})
}

func TestAnAddressIsComparedInOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"A@Example.com": "a@example.com", " a@example.com ": "a@example.com", "a": "", "": "",
		"A <a@example.com>": "", "a@b@c": "", "jörg@example.com": "jörg@example.com", "a\u202eb@example.com": "", "a\u2028b@example.com": "",
		strings.Repeat("a", 64) + "@example.com": strings.Repeat("a", 64) + "@example.com",
		strings.Repeat("a", 65) + "@example.com": "",
		strings.Repeat("ä", 33) + "@example.com": "",
		"a@" + strings.Repeat("b", 63) + ".com":  "a@" + strings.Repeat("b", 63) + ".com",
		"a@" + strings.Repeat("b", 64) + ".com":  "",
		"a@" + strings.Repeat("ü", 57) + ".com":  "a@" + strings.Repeat("ü", 57) + ".com",
		"a@" + strings.Repeat("ü", 58) + ".com":  "",
		"a@" + strings.Repeat("b.", 125) + "bb":  "a@" + strings.Repeat("b.", 125) + "bb",
		"a@" + strings.Repeat("b.", 125) + "bbb": "",
		"a@" + strings.Repeat("ü.", 30) + "com":  "a@" + strings.Repeat("ü.", 30) + "com",
		"a@" + strings.Repeat("ü.", 32) + "com":  ""} {
		got, err := NormalEmail(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
}

func TestOnlyATextThatMayBeAKeyAndWasNotReadBeforeIsNew(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewService(d)
		_, text := issued(t, d, CreateKeyParams{Name: "k", Scopes: []actor.Scope{actor.ScopeRead}})
		isNew := func(text string) bool { return s.IsNew(secret.New(text)) }
		if !isNew(text) || isNew("bur_unknown") || isNew("hello") {
			t.Errorf("a key %t, texts that cannot be one %t and %t", isNew(text), isNew("bur_unknown"), isNew("hello"))
		}
		if _, err := s.Authenticate(t.Context(), secret.New(text)); err != nil || isNew(text) {
			t.Errorf("a key that was read: %t, %v", isNew(text), err)
		}
	})
}
