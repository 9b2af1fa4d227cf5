package booking_test

import (
	"cmp"
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	histories     = "4" // on each engine, in every run
	soakHistories = "400"
	steps         = "40" // of a life, about
)

func TestMain(m *testing.M) {
	count := histories
	if os.Getenv("BURSAR_SOAK") == "1" {
		count = soakHistories
	}
	for name, value := range map[string]string{"rapid.checks": count, "rapid.steps": steps, "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// randomHistory is an organization whose lots come and go at random.
type randomHistory struct {
	*world
	*rapid.T
}

func TestSoakRandomHistoriesVerifyAtEveryStep(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		d := dbtest.Open(t, c)
		rapid.Check(t, func(r *rapid.T) {
			l := &randomHistory{newWorld(t.Context(), r, d, now).newEntities(r, somePolicy(r), somePolicy(r)), r}
			for range 6 { // rapid gives up on a life that begins with deeds it has nothing for
				l.addTransaction()
			}
			deed := func(do func(*randomHistory)) func(*rapid.T) {
				return func(r *rapid.T) {
					l.T, l.TB = r, r
					do(l)
				}
			}
			r.Repeat(map[string]func(*rapid.T){
				"":            deed((*randomHistory).verify),
				"tell":        deed((*randomHistory).addTransaction),
				"tell a pair": deed((*randomHistory).addPair),
				"book":        deed(func(l *randomHistory) { l.bookTransactions(1) }),
				"book 2":      deed(func(l *randomHistory) { l.bookTransactions(1) }),
				"book many":   deed(func(l *randomHistory) { l.bookTransactions(4) }),
				"post":        deed((*randomHistory).postDraft),
				"delete":      deed((*randomHistory).deleteDraft),
				"edit":        deed((*randomHistory).changeDraftDate),
				"unpost":      deed((*randomHistory).unpostEntry),
				"reverse":     deed((*randomHistory).reverseEntry),
				"correct":     deed((*randomHistory).correctType),
				"correct 2":   deed((*randomHistory).correctDetails),
				"open":        deed((*randomHistory).createOpening),
				"change":      deed((*randomHistory).changeOpening),
				"drop":        deed((*randomHistory).deleteOpening),
				"choose":      deed((*randomHistory).selectLots),
				"close":       deed((*randomHistory).closePeriods),
				"reopen":      deed((*randomHistory).reopenPeriod),
				"price":       deed((*randomHistory).createPrice),
				"policy":      deed((*randomHistory).changePolicy),
			})
		})
	})
}

func pick[T any](r *rapid.T, of string, from ...T) T {
	return rapid.SampledFrom(from).Draw(r, of)
}

func somePolicy(r *rapid.T) entity.CreateParams {
	return entity.CreateParams{
		CostBasisMethod: pick(r, "method", entity.Methods...), CostBasisScope: pick(r, "scope", entity.ScopeSource, entity.ScopeSource,
			entity.ScopeLegalEntity),
		FeeTreatment: pick(r, "fees", "", "", entity.FeesNetted, entity.FeesCapitalized), ShortDisposal: pick(r, "short", "", "",
			entity.ShortAtZeroBasis),
		IntercompanyBasis: pick(r, "intercompany", "", entity.BasisAtFairValue), LoansOut: pick(r, "loans", "", entity.LoansParked),
	}
}

// try does something. What is refused is refused for a reason that somebody can do something about, and changes nothing.
func (l *randomHistory) try(what string, do func() error) {
	before := l.everything()
	err := do()
	l.Logf("%s: %v", what, err)
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Conflict:
		for table, now := range l.everything() {
			if !slices.Equal(now, before[table]) {
				l.Log(table, "is no longer what it was")
				l.Fatal("what was refused changed something") // rapid looks for shorter lives that end with the same words
			}
		}
	default:
		if err != nil {
			l.Fatal("it went wrong")
		}
	}
}

// verify lets the books verify themselves, and holds what was realized against what the accounts say of it.
func (l *randomHistory) verify() {
	l.read(func(ctx context.Context, tx *db.Tx) error {
		found, err := findings(ctx, tx)
		if err != nil {
			return err
		}
		realized, err := l.realized(ctx, tx)
		found = append(found, realized...)
		if len(found) > 0 {
			l.Logf("found:\n%s", l.withNames(strings.Join(found, "\n")))
			l.Fatal("something is broken")
		}
		return err
	})
}

// withNames gives entries their numbers, accounts and sources their names.
func (l *randomHistory) withNames(text string) string {
	for _, e := range l.entries(func(journal.Entry) bool { return true }) {
		text = strings.ReplaceAll(text, e.ID, name(e))
	}
	for id, name := range l.names {
		text = strings.ReplaceAll(text, id, name)
	}
	for name, s := range l.sources {
		text = strings.ReplaceAll(text, s.ID, name)
	}
	return text
}

// instant is one of not too many, so that things happen at the same time.
func (l *randomHistory) instant() string {
	day := rapid.IntRange(0, 24).Draw(l.T, "day")
	return time.Date(2025, 1, 1+5*day, 12, 0, 0, 0, time.UTC).Format(time.RFC3339)
}

// entries gives what is there, newest first, of what fits.
func (l *randomHistory) entries(fits func(journal.Entry) bool) (out []journal.Entry) {
	l.read(func(ctx context.Context, tx *db.Tx) error {
		return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
			if fits(e) {
				out = append(out, e)
			}
			return nil
		})
	})
	return out
}

func (l *randomHistory) someEntry(fits func(journal.Entry) bool) journal.Entry {
	all := l.entries(fits)
	if len(all) == 0 {
		l.Skip("no such entry")
	}
	return pick(l.T, "entry", all...)
}

func inForce(e journal.Entry) bool {
	return e.Status == journal.Posted && e.NextID == "" && e.OriginatedBy != journal.ByReversal
}

func draft(e journal.Entry) bool { return e.Status == journal.Draft }

// pending gives the transactions that have no entry.
func (l *randomHistory) pending() []transaction.Transaction {
	all, err := l.txns.List(l.ctx, transaction.ListParams{Request: page.Request{Limit: 100}})
	if err != nil {
		l.Fatal(err)
	}
	slices.SortFunc(all.Items, func(a, b transaction.Transaction) int { return cmp.Compare(a.Number, b.Number) })
	return slices.DeleteFunc(all.Items, func(t transaction.Transaction) bool { return t.JournalEntryID != "" })
}
