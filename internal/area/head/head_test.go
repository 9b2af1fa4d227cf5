package head_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/area/head"
	"github.com/bursarhq/bursar/internal/area/org"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestTheHeadIsWrittenWholeWhetherItIsTakenBeforeOrAfterAChangeIsRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := org.NewService(d).Found(t.Context(), org.FoundParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		read := func() (h head.Head) {
			err := d.ReadOne(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
				h, err = head.Read(ctx, tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		record := func(ctx context.Context, tx *db.Tx) error {
			audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", After: map[string]any{}})
			return nil
		}
		touch := func(ctx context.Context, tx *db.Tx) error {
			_, err := head.Touch(ctx, tx)
			return err
		}
		fail := func(context.Context, *db.Tx) error { return errors.New("deliberate") }
		for name, steps := range map[string][]db.Func{"before": {touch, record}, "after": {record, touch}, "not at all": {record, touch, fail}} {
			before := read()
			err := d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				for _, step := range steps {
					if err := step(ctx, tx); err != nil {
						return err
					}
				}
				return nil
			})
			want := before
			if name != "not at all" {
				if err != nil {
					t.Fatal(err)
				}
				want.AuditSequence, want.EventSequence, want.BooksVersion = before.AuditSequence+1, before.EventSequence+1, before.BooksVersion+1
				want.AuditHash = read().AuditHash
			}
			if after := read(); after != want || name != "not at all" && after.AuditHash == before.AuditHash {
				t.Errorf("%s: %+v became %+v", name, before, after)
			}
		}
	})
}
