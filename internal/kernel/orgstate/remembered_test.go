package orgstate_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// twoNodes runs a test with two handles on one database. The first has committed the state of the organization last.
func twoNodes(t *testing.T, test func(t *testing.T, a, b *db.DB, org string)) {
	dbtest.EachConfig(t, func(t *testing.T, config db.Config) {
		a, b := dbtest.Open(t, config), dbtest.Open(t, config)
		created, err := organization.NewService(a).Create(t.Context(), organization.CreateParams{
			Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC",
		})
		if err != nil {
			t.Fatal(err)
		}
		org := created.Organization.ID
		if err := a.GroupWrite(t.Context(), org, assignNumber(nil)); err != nil {
			t.Fatal(err)
		}
		test(t, a, b, org)
	})
}

// assignNumber assigns the next entry number and records a change. It appends the number to a list.
func assignNumber(numbers *[]int64) db.Func {
	return func(ctx context.Context, tx *db.Tx) error {
		s, err := orgstate.Lock(ctx, tx)
		if err != nil {
			return err
		}
		s.EntryNumber++
		if numbers != nil {
			*numbers = append(*numbers, s.EntryNumber)
		}
		audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", After: map[string]any{}})
		return nil
	}
}

func TestAGroupThatAssumedAnOldStateRunsAgainOnTheNewOne(t *testing.T) {
	t.Parallel()
	twoNodes(t, func(t *testing.T, a, b *db.DB, org string) {
		if err := b.Write(t.Context(), org, assignNumber(nil)); err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		if err := a.GroupWrite(t.Context(), org, assignNumber(&numbers)); err != nil {
			t.Fatal(err)
		}
		if len(numbers) != 2 || numbers[0] != 2 || numbers[1] != 3 {
			t.Errorf("it saw the numbers %v, want 2, which was assumed, and then 3", numbers)
		}
		numbers = nil
		if err := b.GroupWrite(t.Context(), org, assignNumber(&numbers)); err != nil || numbers[len(numbers)-1] != 4 {
			t.Errorf("the other node saw %v, %v", numbers, err)
		}
	})
}

// The audit log has no record of the change, so that no unique key notices it: only the comparison at the commit does.
func TestAGroupDoesNotOverwriteAVersionThatAnotherNodeHasChanged(t *testing.T) {
	t.Parallel()
	twoNodes(t, func(t *testing.T, a, b *db.DB, org string) {
		var version int64
		if err := b.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			s, err := orgstate.Touch(ctx, tx)
			if err == nil {
				version = s.BooksVersion
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		if err := a.GroupWrite(t.Context(), org, assignNumber(&numbers)); err != nil || len(numbers) != 2 {
			t.Errorf("it ran with the numbers %v, want two runs: %v", numbers, err)
		}
		if err := b.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			s, err := orgstate.Read(ctx, tx)
			if s.BooksVersion != version {
				t.Errorf("the books are of version %d, want %d", s.BooksVersion, version)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAGroupThatChangesNothingDoesNotAnswerFromAnOldState(t *testing.T) {
	t.Parallel()
	twoNodes(t, func(t *testing.T, a, b *db.DB, org string) {
		if err := b.Write(t.Context(), org, assignNumber(nil)); err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		err := a.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			s, err := orgstate.Lock(ctx, tx)
			if err == nil {
				numbers = append(numbers, s.EntryNumber)
			}
			return err
		})
		if err != nil || numbers[len(numbers)-1] != 2 {
			t.Errorf("it saw the numbers %v, want 2 at last: %v", numbers, err)
		}
	})
}

func TestAGroupDoesNotReadAStateThatItsNodeCommittedLast(t *testing.T) {
	t.Parallel()
	twoNodes(t, func(t *testing.T, a, _ *db.DB, org string) {
		var numbers []int64
		for range 3 {
			if err := a.GroupWrite(t.Context(), org, assignNumber(&numbers)); err != nil {
				t.Fatal(err)
			}
		}
		if len(numbers) != 3 || numbers[2] != 4 {
			t.Errorf("it saw %v, want 2, 3 and 4, each once", numbers)
		}
	})
}

func TestAnErrorThatComesFromAnAssumedStateDoesNotCount(t *testing.T) {
	t.Parallel()
	twoNodes(t, func(t *testing.T, a, b *db.DB, org string) {
		var version int64
		err := b.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			s, err := orgstate.Touch(ctx, tx)
			if err == nil {
				version = s.BooksVersion
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		err = a.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			runs++
			s, err := orgstate.Lock(ctx, tx)
			if err == nil && s.BooksVersion != version {
				return fault.Conflictf("the books are of version %d", s.BooksVersion)
			}
			return err
		})
		if err != nil || runs != 2 {
			t.Errorf("%v after %d runs", err, runs)
		}
	})
}

func TestAnErrorUnderAStateThatIsAsAssumedCounts(t *testing.T) {
	t.Parallel()
	twoNodes(t, func(t *testing.T, a, _ *db.DB, org string) {
		runs := 0
		err := a.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			runs++
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			return fault.Conflictf("no")
		})
		if fault.KindOf(err) != fault.Conflict || runs != 1 {
			t.Errorf("%v after %d runs", err, runs)
		}
	})
}
