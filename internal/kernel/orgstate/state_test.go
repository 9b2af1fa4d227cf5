package orgstate_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestTheStateIsWrittenCompletelyWhetherItIsLockedBeforeOrAfterAChangeIsRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		read := func() orgstate.State { return readState(t, d, f.Organization.ID) }
		record := func(ctx context.Context, tx *db.Tx) error {
			audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", After: map[string]any{}})
			return nil
		}
		touch := func(ctx context.Context, tx *db.Tx) error {
			_, err := orgstate.Touch(ctx, tx)
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

// numbered is a body that assigns the next entry number, and may then query the database, return an error or panic.
func numbered(ctx context.Context, tx *db.Tx, queries, refused, panics bool) (int64, error) {
	state, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return 0, err
	}
	state.EntryNumber++
	audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x",
		After: map[string]any{"number": state.EntryNumber}})
	if queries {
		if _, err := db.All[int64](ctx, tx, "SELECT entry_number FROM organization_state WHERE organization_id = @org"); err != nil {
			return 0, err
		}
	}
	switch {
	case refused:
		return 0, errRefused
	case panics:
		panic("in a body")
	}
	return state.EntryNumber, nil
}

var errRefused = errors.New("refused")

func TestGroupedWritesAssignEachNumberOnceAndRunOnce(t *testing.T) {
	t.Parallel()
	for name, disturbed := range map[string]bool{"alone": false, "while others write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
					Currency: "USD", Timezone: "UTC"})
				if err != nil {
					t.Fatal(err)
				}
				before := readState(t, d, f.Organization.ID)
				var mu sync.Mutex
				assigned := map[int64]bool{}
				runs, writes, tries, kept := 0, 0, 0, 0
				write := func(write func(context.Context, string, db.Func) error, queries, refused, panics bool) {
					var number int64
					ran := 0
					err := func() (err error) {
						defer func() {
							if recover() != nil {
								err = errRefused
							}
						}()
						return write(context.Background(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
							ran++
							mu.Lock()
							tries = max(tries, tx.Group().Attempt())
							mu.Unlock()
							number, err = numbered(ctx, tx, queries, refused, panics)
							return err
						})
					}()
					mu.Lock()
					defer mu.Unlock()
					runs, writes = runs+ran, writes+1
					switch {
					case refused || panics:
						if !errors.Is(err, errRefused) {
							t.Errorf("it should be refused: %v", err)
						}
					case err != nil:
						t.Error(err)
					case assigned[number]:
						t.Errorf("%d was assigned twice", number)
					default:
						assigned[number] = true
						kept++
					}
				}
				var wg sync.WaitGroup
				for i := range 24 {
					wg.Go(func() {
						for n := range 30 {
							if disturbed && (i+n)%11 == 0 {
								write(d.Write, n%2 == 0, n%3 == 0, false)
							} else {
								write(d.GroupWrite, (i+n)%7 == 0, (i+n)%5 == 0, (i+n)%13 == 0)
							}
						}
					})
				}
				wg.Wait()
				after := readState(t, d, f.Organization.ID)
				if after.EntryNumber != int64(kept) || after.AuditSequence != before.AuditSequence+int64(kept) ||
					after.EventSequence != before.EventSequence+int64(kept) {
					t.Errorf("%d writes made %+v of %+v", kept, after, before)
				}
				if !disturbed && (tries != 1 || runs != writes) {
					t.Errorf("%d bodies ran %d times in %d attempts, although nobody else writes", writes, runs, tries)
				}
			})
		})
	}
}

func readState(t *testing.T, d *db.DB, organizationID string) (state orgstate.State) {
	t.Helper()
	err := d.ReadOne(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		state, err = orgstate.Read(ctx, tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestEveryWriteSeesTheStateThatTheWritesBeforeItLeft(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if err := d.GroupWrite(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				_, err := numbered(ctx, tx, false, false, false)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			var version int64
			if err := d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				state, err := orgstate.Touch(ctx, tx)
				if err != nil {
					return err
				}
				version = state.BooksVersion
				_, err = numbered(ctx, tx, false, false, false)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i := range 3 {
				wg.Go(func() {
					err := d.GroupWrite(context.Background(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
						if _, err := numbered(ctx, tx, false, false, false); err != nil {
							return err
						}
						if state, err := orgstate.Lock(ctx, tx); err != nil || i > 0 && state.BooksVersion != version {
							return errors.Join(err, errRefused)
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
	})
}
