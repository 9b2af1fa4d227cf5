package dbtest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// found creates an organization row with a name.
func found(d *db.DB, org, name string) error {
	return d.Write(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		return db.Insert(ctx, tx, "organizations", struct {
			Name      string    `db:"name"`
			Timezone  string    `db:"timezone"`
			Format    string    `db:"time_format"`
			CreatedAt time.Time `db:"created_at"`
		}{name, "UTC", "hr24", tx.Now()})
	})
}

// exists reports whether an organization is stored.
func exists(t *testing.T, d *db.DB, org string) bool {
	t.Helper()
	var names []string
	err := d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) (err error) {
		names, err = db.All[string](ctx, tx, "SELECT name FROM organizations WHERE organization_id = @org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(names) == 1
}

func TestTheImageOfACrashHasWhatWasCommittedBeforeAndNothingThatCameLater(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		c, f := dbtest.SQLite(t), dbtest.NewFaults()
		disk := dbtest.NewDisk(t, c, f)
		d := dbtest.Open(t, c)
		for _, org := range []string{"org_1", "org_2"} {
			if err := found(d, org, "before"); err != nil {
				t.Fatal(err)
			}
		}
		f.CrashIn(1)
		_ = found(d, "org_3", "at the crash")
		if !f.Dead() {
			t.Fatal("nothing crashed")
		}
		if err := found(d, "org_4", "after"); err == nil {
			t.Error("a write after the crash succeeded")
		}
		c.Dir = disk.Recovered(t, rand.New(rand.NewPCG(seed, 0)), d)
		again := dbtest.Open(t, c)
		if !exists(t, again, "org_1") || !exists(t, again, "org_2") {
			t.Errorf("seed %d: a write before the crash is lost", seed)
		}
		if exists(t, again, "org_4") {
			t.Errorf("seed %d: a write after the crash is there", seed)
		}
		if err := found(again, "org_5", "later"); err != nil {
			t.Error(err)
		}
	}
}

func TestAConnectionBreaksBeforeAMessageOrAfterACommitAsAsked(t *testing.T) {
	t.Parallel()
	f := dbtest.NewFaults()
	_, c := dbtest.NewProxy(t, dbtest.Postgres(t), f)
	d := dbtest.OpenPrepared(t, c)
	f.LoseCommitIn(1)
	if err := found(d, "org_1", "lost"); !errors.Is(err, db.ErrCommitUnknown) || !exists(t, d, "org_1") {
		t.Errorf("a commit whose answer is lost: %v", err)
	}
	f.ResetIn(1)
	if err := found(d, "org_2", "reset"); err == nil || exists(t, d, "org_2") {
		t.Errorf("a message that is not delivered: %v", err)
	}
	if err := found(d, "org_2", "again"); err != nil {
		t.Errorf("after the reset: %v", err)
	}
	f.Crash()
	if err := found(d, "org_3", "after"); err == nil {
		t.Error("a write after the crash succeeded")
	}
	if got := f.Happened(); got["lost commit"] != 1 || got["reset"] != 1 || got["crash"] != 1 {
		t.Errorf("%v", got)
	}
}
