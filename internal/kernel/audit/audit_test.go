package audit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// found creates an organization, whose audit log then has four records.
func found(t *testing.T, d *db.DB) string {
	t.Helper()
	organizationID := d.IDs().New(id.Organization)
	err := d.Write(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO organizations (organization_id, name, timezone, time_format, created_at) VALUES (@org, "+
			"'x', 'UTC', 'hr24', ?)", tx.Now()); err != nil {
			return err
		}
		if err := orgstate.Begin(ctx, tx); err != nil {
			return err
		}
		return record(ctx, d, organizationID, "1", "2", "3", "4")
	})
	if err != nil {
		t.Fatal(err)
	}
	return organizationID
}

func record(ctx context.Context, d *db.DB, organizationID string, names ...string) error {
	return d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		for _, name := range names {
			audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: name, Before: map[string]any{"a": 1},
				After: map[string]any{"name": name}})
		}
		return nil
	})
}

func verify(t *testing.T, d *db.DB, organizationID string, after int64) audit.Verification {
	t.Helper()
	v, err := audit.NewService(d).Verify(actor.With(context.Background(), actor.Actor{OrganizationID: organizationID}), after)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheChainHoldsUnderConcurrentWritersAndEachOrganizationHasItsOwn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := found(t, d), found(t, d)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := range 10 {
					organizationID := []string{one, two}[n%2]
					if err := record(context.Background(), d, organizationID, fmt.Sprint(i, n, "a"), fmt.Sprint(i, n, "b")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, organizationID := range []string{one, two} {
			if v := verify(t, d, organizationID, 0); v.Break != nil || !v.Complete() || v.Checked != 4+80 {
				t.Errorf("%+v %+v", v, v.Break)
			}
			if v := verify(t, d, organizationID, 50); v.Break != nil || !v.Complete() || v.Checked != 34 {
				t.Errorf("after 50: %+v", v)
			}
		}
	})
}

func TestNoRowOfTheLogCanBeAlteredDroppedOrMovedUnseen(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for damage, at := range map[string]int64{
			"UPDATE audit_log SET after = '{\"name\":\"forged\"}' WHERE organization_id = ? AND sequence = 6":            6,
			"UPDATE audit_log SET before = NULL WHERE organization_id = ? AND sequence = 6":                              6,
			"UPDATE audit_log SET user_id = 'usr_x' WHERE organization_id = ? AND sequence = 7":                          7,
			"UPDATE audit_log SET action = 'test.other' WHERE organization_id = ? AND sequence = 5":                      5,
			"UPDATE audit_log SET hash = previous_hash WHERE organization_id = ? AND sequence = 5":                       5,
			"DELETE FROM audit_log WHERE organization_id = ? AND sequence = 6":                                           6,
			"DELETE FROM audit_log WHERE organization_id = ? AND sequence = 1":                                           1,
			"DELETE FROM audit_log WHERE organization_id = ? AND sequence = 8":                                           8,
			"DELETE FROM audit_log WHERE organization_id = ? AND sequence > 0":                                           1,
			"UPDATE audit_log SET sequence = 9 WHERE organization_id = ? AND sequence = 6":                               6,
			"UPDATE organization_state SET audit_hash = 'x' WHERE organization_id = ? AND audit_sequence > 0":            8,
			"UPDATE organization_state SET audit_sequence = 9 WHERE organization_id = ? AND audit_sequence > 0":          9,
			"UPDATE audit_log SET created_at = '2020-01-01T00:00:00.000Z' WHERE organization_id = ? AND sequence = 8":    8,
			"UPDATE audit_log SET resource_id = 'x', resource_type = 'testx' WHERE organization_id = ? AND sequence = 7": 7,
		} {
			organizationID := found(t, d)
			if err := record(t.Context(), d, organizationID, "a", "b", "c", "d"); err != nil {
				t.Fatal(err)
			}
			err := d.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
				n, err := tx.Exec(ctx, damage, organizationID)
				if n == 0 {
					t.Errorf("%s did nothing", damage)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			v := verify(t, d, organizationID, 0)
			if v.Break == nil || v.Break.Sequence != at || v.Complete() {
				t.Errorf("%s: %+v %+v, want a break at %d", damage, v, v.Break, at)
			}
			err = d.Read(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
				texts, err := audit.VerifySince(ctx, tx, 0, nil)
				if len(texts) != 1 || !strings.Contains(texts[0], fmt.Sprint("record ", at)) {
					t.Errorf("%s: Verify returns %v", damage, texts)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAnyFactsAreWrittenAndReadBackTheSame(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		organizationID := found(t, d)
		ctx := actor.With(context.Background(), actor.Actor{OrganizationID: organizationID})
		rapid.Check(t, func(r *rapid.T) {
			// PostgreSQL cannot store NUL; the API refuses it earlier.
			value := strings.ReplaceAll(rapid.String().Draw(r, "value"), "\x00", "")
			if err := record(ctx, d, organizationID, value); err != nil {
				r.Fatal(err)
			}
			if v := verify(t, d, organizationID, 0); v.Break != nil {
				r.Fatalf("%q breaks the chain: %+v", value, v.Break)
			}
		})
	})
}

// A request has memory for some records at a time. However long the log is, it can be verified.
func TestALogIsVerifiedInPartsThatFitIntoTheMemory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := found(t, d)
		const records, bytes = 50, 4000
		for range records {
			if err := record(t.Context(), d, org, strings.Repeat("x", bytes)); err != nil {
				t.Fatal(err)
			}
		}
		errFull := errors.New("full")
		taken, most := 0, 0
		ctx := db.WithMeter(actor.With(t.Context(), actor.Actor{OrganizationID: org}), func(n int) error {
			if taken+n > 5*bytes {
				return errFull
			}
			taken += n
			most = max(most, taken)
			return nil
		})
		v, err := audit.NewService(d).Verify(ctx, 0)
		if err != nil || !v.Complete() || v.Checked < records {
			t.Errorf("%+v, %v", v, err)
		}
		if taken > bytes || most < bytes {
			t.Errorf("%d bytes are still taken, and at most %d were", taken, most)
		}
	})
}
