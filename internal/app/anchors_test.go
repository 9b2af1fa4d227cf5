package app_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// closer closes the months of a company, one after the other.
type closer struct {
	*testing.T
	app    *app.App
	org    string
	folder string // of the anchors
	ctx    context.Context
	months []period.Period
}

func newCloser(t *testing.T, c db.Config) *closer {
	t.Helper()
	c.Clock = clock.NewManual(time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC))
	a := app.New(dbtest.Open(t, c), nil)
	made, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	x := &closer{T: t, app: a, org: made.Organization.ID, folder: filepath.Join(t.TempDir(), db.AnchorsFolder)}
	x.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: x.org, UserID: made.Owner.UserID, Role: actor.Owner})
	err = a.DB.Write(x.ctx, x.org, func(ctx context.Context, tx *db.Tx) (err error) {
		x.months, err = period.Ensure(ctx, tx, calendar.Month{Year: 2026, Month: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// keepAnchors lets the service write anchors, as it does when it starts.
func (x *closer) keepAnchors() {
	x.Helper()
	x.app.KeepAnchors(x.folder)
	if err := x.app.WriteMissingAnchors(x.ctx); err != nil {
		x.Fatal(err)
	}
}

func (x *closer) close(month int) {
	x.Helper()
	if _, err := x.app.Periods.Close(x.ctx, x.months[month].ID, ""); err != nil {
		x.Fatal(err)
	}
}

// written returns the contents of the anchors by the months in their names, and deletes those of some months.
func (x *closer) written(deleted ...string) map[string]string {
	x.Helper()
	names, err := filepath.Glob(filepath.Join(x.folder, "*"))
	if err != nil {
		x.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			x.Fatal(err)
		}
		month, rest, _ := strings.Cut(filepath.Base(name), "_")
		if !strings.HasPrefix(rest, x.org+"_") || !strings.HasSuffix(rest, ".json") {
			x.Errorf("%s is no name of an anchor", name)
		}
		out[month] = string(text)
		if slices.Contains(deleted, month) {
			if err := os.Remove(name); err != nil {
				x.Fatal(err)
			}
		}
	}
	return out
}

func (x *closer) verify() (found []string) {
	x.Helper()
	var o app.VerifyOptions
	if _, err := o.Read(x.folder); err != nil {
		x.Fatal(err)
	}
	all, err := x.app.Verify(x.ctx, &o)
	if err != nil {
		x.Fatal(err)
	}
	for _, f := range all {
		found = append(found, f.OrganizationID+": "+f.Text)
	}
	return found
}

func TestACloseWritesItsAnchorAndThoseThatAreMissing(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		x := newCloser(t, c)
		x.close(0) // before anchors are kept, as if the process had been killed after the commit
		x.app.KeepAnchors(x.folder)
		if err := x.app.WriteMissingAnchors(t.Context()); err != nil {
			t.Fatal(err)
		}
		first := x.written("2026-01")["2026-01"]
		if !strings.Contains(first, `"accounting_period": "2026-01"`) || !strings.Contains(first, x.org) {
			t.Fatalf("the anchor of January is %q", first)
		}
		x.close(1)
		both := x.written()
		if len(both) != 2 || both["2026-01"] != first || !strings.Contains(both["2026-02"], `"accounting_period": "2026-02"`) {
			t.Errorf("after the second close there are %v", both)
		}
		if found := x.verify(); len(found) > 0 {
			t.Error(found)
		}
	})
}

func TestAnAnchorThatCannotBeWrittenDoesNotKeepOthersFromBeingWritten(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		x := newCloser(t, c)
		x.keepAnchors()
		x.close(0)
		x.close(1)
		names, err := filepath.Glob(filepath.Join(x.folder, "2026-01_*"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		x.written("2026-01", "2026-02")
		if err := os.Mkdir(names[0]+".part", 0o750); err != nil { // January cannot be written
			t.Fatal(err)
		}
		x.close(2)
		if err := os.Remove(names[0] + ".part"); err != nil {
			t.Fatal(err)
		}
		if found := x.written(); len(found) != 2 || found["2026-02"] == "" || found["2026-03"] == "" {
			t.Errorf("the anchors are %v", found)
		}
	})
}

func TestAnAnchorIsNotWrittenAgainOverAnotherOne(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		x := newCloser(t, c)
		x.keepAnchors()
		x.close(0)
		names, err := filepath.Glob(filepath.Join(x.folder, "*.json"))
		if err != nil || len(names) != 1 {
			t.Fatalf("%v, %v", names, err)
		}
		if err := os.WriteFile(names[0], []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		x.close(1)
		if now := x.written(); len(now) != 2 || now["2026-01"] != "kept" {
			t.Errorf("there are %v", now)
		}
		if found := x.verify(); len(found) != 1 || !strings.Contains(found[0], "cannot be used as an anchor") {
			t.Errorf("a damaged anchor: %v", found)
		}
	})
}

func TestACompanyThatWasDeletedCompletelyIsFoundByItsAnchors(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		x := newCloser(t, c)
		x.keepAnchors()
		x.close(0)
		for _, table := range slices.Backward(db.Tables) {
			if table.Kind != db.Tenant && table.Name != "api_keys" || table.Name == "organizations" {
				continue
			}
			x.delete(table.Name)
		}
		x.delete("organizations")
		found := x.verify()
		if len(found) != 1 || !strings.Contains(found[0], x.org+": the organization, mine, is not in this database") {
			t.Errorf("found %v", found)
		}
	})
}

func (x *closer) delete(table string) {
	x.Helper()
	statement := "DELETE FROM " + table + " WHERE organization_id = '" + x.org + "'"
	err := x.app.DB.WriteAcross(x.ctx, "a test deletes an organization", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	})
	if err != nil {
		x.Fatalf("%s: %v", statement, err)
	}
}
