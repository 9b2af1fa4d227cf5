package db_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestAnErrorOfABodyMakesItRunAgainOnlyIfWhatItAssumedIsNotSo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		for name, c := range map[string]struct {
			assumes   bool
			confirmed error
			runs      int
			confirms  int
		}{
			"nothing was assumed":         {assumes: false, runs: 1},
			"what was assumed is so":      {assumes: true, runs: 1, confirms: 1},
			"what was assumed is not so":  {assumes: true, confirmed: db.ErrRetry, runs: 2, confirms: 1},
			"what was assumed is unknown": {assumes: true, confirmed: errors.New("no answer"), runs: 1, confirms: 1},
		} {
			runs, confirms := 0, 0
			err := d.GroupWrite(t.Context(), org, func(_ context.Context, tx *db.Tx) error {
				runs++
				if c.assumes && tx.Group().Attempt() == 1 {
					tx.Group().Assume(func(context.Context, *db.Tx) error {
						confirms++
						return c.confirmed
					})
				}
				return errRefused
			})
			refused := c.confirmed == nil || c.runs > 1
			if err == nil || errors.Is(err, errRefused) != refused || runs != c.runs || confirms != c.confirms {
				t.Errorf("%s: %d runs, %d confirmations, %v", name, runs, confirms, err)
			}
		}
	})
}

func TestAnAssumptionIsNotConfirmedIfEveryBodySucceeds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Group().Assume(func(context.Context, *db.Tx) error {
				t.Error("it was confirmed, which costs a round trip")
				return nil
			})
			_, err := number(ctx, tx, "n")
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestABeforeCommitFunctionRunsForTheOthersWhenTheMemberThatRegisteredItFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		functions := 0 // BeforeCommit functions that have run
		body := func(name string, fail error, begun, proceed chan struct{}) error {
			return d.GroupWrite(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
				if _, err := number(ctx, tx, name); err != nil { // registers the function that inserts, if it is the first
					return err
				}
				if fail != nil {
					tx.Group().BeforeCommit(func(context.Context, *db.Tx) error {
						functions++
						return nil
					})
				}
				if begun != nil {
					close(begun)
					<-proceed
				}
				return fail
			})
		}
		begun, proceed := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := body("fails", errRefused, begun, proceed); !errors.Is(err, errRefused) {
				t.Error(err)
			}
		})
		<-begun
		wg.Go(func() {
			if err := body("stays", nil, nil, nil); err != nil {
				t.Error(err)
			}
		})
		for db.GroupedWritesWaiting(d) == 0 {
			continue
		}
		close(proceed)
		wg.Wait()
		if d.Engine() == db.Postgres && functions != 1 { // on SQLite the other one may run in the next transaction
			t.Errorf("%d functions of the member that failed have run", functions)
		}
		if got := names(t, d, org); !slices.Equal(got, []string{"stays"}) {
			t.Errorf("%v", got)
		}
		functions = 0
		if err := body("alone", errRefused, nil, nil); !errors.Is(err, errRefused) || functions != 0 {
			t.Errorf("%d functions of a group have run of which nobody is left: %v", functions, err)
		}
	})
}

func TestWhichTransactionsSeeOneSnapshot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		for name, c := range map[string]struct {
			run  func(context.Context, string, db.Func) error
			want bool
		}{
			"read":          {d.Read, true},
			"read one":      {d.ReadOne, false},
			"write":         {d.Write, d.Engine() == db.SQLite},
			"grouped write": {d.GroupWrite, d.Engine() == db.SQLite},
		} {
			err := c.run(t.Context(), org, func(_ context.Context, tx *db.Tx) error {
				if got := tx.SeesOneSnapshot(); got != c.want {
					t.Errorf("%s: %t", name, got)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
