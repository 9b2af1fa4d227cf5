package booking_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	histories     = 3 // on each engine, in every run
	soakHistories = 20
	steps         = "40" // of a life, about
)

func TestMain(m *testing.M) {
	count := strconv.Itoa(dbtest.Repeats(histories, soakHistories))
	for name, value := range map[string]string{"rapid.checks": count, "rapid.steps": steps, "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// randomHistory is an organization to which random operations are applied.
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
		lives, verified := 0, 0
		defer func() { t.Logf("%d histories were verified after %d operations", lives, verified) }()
		rapid.Check(t, func(r *rapid.T) {
			subsidiary := somePolicy(r)
			subsidiary.BaseCurrency = pick(r, "currency", "USD", "EUR")
			l := &randomHistory{newWorld(t.Context(), r, d, now).newEntities(r, somePolicy(r), subsidiary), r}
			l.storeRates()
			lives++
			for range 6 { // rapid gives up if too many of the first operations are skipped
				l.addTransaction()
			}
			operation := func(do func(*randomHistory)) func(*rapid.T) {
				return func(r *rapid.T) {
					l.T, l.TB = r, r
					do(l)
				}
			}
			r.Repeat(map[string]func(*rapid.T){
				"":            operation(func(l *randomHistory) { verified++; l.verify() }),
				"add":         operation((*randomHistory).addTransaction),
				"add a pair":  operation((*randomHistory).addPair),
				"add between": operation((*randomHistory).addBetweenEntities),
				"add a token": operation((*randomHistory).addToken),
				"book":        operation(func(l *randomHistory) { l.bookTransactions(1) }),
				"book 2":      operation(func(l *randomHistory) { l.bookTransactions(1) }),
				"book many":   operation(func(l *randomHistory) { l.bookTransactions(4) }),
				"post":        operation((*randomHistory).postDraft),
				"delete":      operation((*randomHistory).deleteDraft),
				"edit":        operation((*randomHistory).changeDraftDate),
				"unpost":      operation((*randomHistory).unpostEntry),
				"reverse":     operation((*randomHistory).reverseEntry),
				"correct":     operation((*randomHistory).correctType),
				"correct 2":   operation((*randomHistory).correctDetails),
				"open":        operation((*randomHistory).createOpening),
				"change":      operation((*randomHistory).changeOpening),
				"delete lot":  operation((*randomHistory).deleteOpening),
				"select lots": operation((*randomHistory).selectLots),
				"close":       operation((*randomHistory).closePeriods),
				"reopen":      operation((*randomHistory).reopenPeriod),
				"price":       operation((*randomHistory).createPrice),
				"policy":      operation((*randomHistory).changePolicy),
				"time zone":   operation((*randomHistory).changeTimezone),
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

// try runs an operation. It may be refused with an error that a user can act on, and must change nothing then.
func (l *randomHistory) try(what string, do func() error) {
	before := l.everything()
	err := do()
	l.Logf("%s: %v", what, err)
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Conflict:
		for table, now := range l.everything() {
			if !slices.Equal(now, before[table]) {
				l.Log(table, "has changed")
				l.Fatal("a refused operation changed something") // a constant text, by which rapid shrinks to a shorter history
			}
		}
	default:
		if err != nil {
			l.Fatal("the operation failed")
		}
	}
}

// verify verifies the books, and compares realized gains with the balances of their accounts.
func (l *randomHistory) verify() {
	l.read(func(ctx context.Context, tx *db.Tx) error {
		found, err := findings(ctx, tx)
		if err != nil {
			return err
		}
		realized, err := l.realized(ctx, tx)
		if err != nil {
			return err
		}
		between, err := l.betweenEntities(ctx, tx)
		if err != nil {
			return err
		}
		elsewhere, err := misplaced(ctx, tx)
		found = slices.Concat(found, realized, between, elsewhere)
		if len(found) > 0 {
			l.Logf("found:\n%s", l.withNames(strings.Join(found, "\n")))
			l.Fatal("verify found something")
		}
		return err
	})
}

// storeRates stores exchange rates of the days on which something happens.
func (l *randomHistory) storeRates() {
	var all []fx.StoreParams
	for day := range 26 {
		date := time.Date(2025, 1, 1+5*day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		for i, base := range []string{"USD", "EUR"} {
			all = append(all, fx.StoreParams{Base: base, Quote: []string{"EUR", "USD"}[i], Date: date, Source: "test",
				Rate: fmt.Sprintf("%d.%02d", i, 90-80*i+day%7)})
		}
	}
	if _, err := l.rates.Store(l.ctx, all); err != nil {
		l.Fatal(err)
	}
}

// betweenEntities compares what one legal entity is owed by the other, in each unit, with what that owes.
func (l *randomHistory) betweenEntities(ctx context.Context, tx *db.Tx) (found []string, err error) {
	for _, pair := range [][2]string{{l.us, l.sub}, {l.sub, l.us}} {
		creditor, debtor := pair[0], pair[1]
		claim, err := account.ByRole(ctx, tx, account.RoleDueFrom(debtor))
		if err != nil {
			return nil, err
		}
		debt, err := account.ByRole(ctx, tx, account.RoleDueTo(creditor))
		if err != nil {
			return nil, err
		}
		for _, unit := range []string{"ETH", "USDC", "PUNK", "EUR", "USD"} {
			owed, owes, err := l.outstanding(ctx, tx, unit, [2]string{creditor, claim.ID}, [2]string{debtor, debt.ID})
			if err != nil {
				return nil, err
			}
			if !owed.Equal(owes.Neg()) {
				found = append(found, fmt.Sprintf("%s is owed %s %s by %s, which owes %s", creditor, owed, unit, debtor, owes.Neg()))
			}
		}
	}
	return found, nil
}

// outstanding returns the balances of a unit on two accounts, each of a legal entity.
func (l *randomHistory) outstanding(ctx context.Context, tx *db.Tx, unit string, a, b [2]string) (x, y money.Decimal, err error) {
	books, err := snapshot.Read(ctx, tx)
	for i, at := range [][2]string{a, b} {
		if err != nil {
			return x, y, err
		}
		var sum balance.Unit
		sum, err = journal.UnitBalance(ctx, tx, books, journal.UnitQuery{LegalEntityID: at[0], LedgerAccountID: at[1], Unit: unit, At: today})
		if i == 0 {
			x = sum.Quantity
		} else {
			y = sum.Quantity
		}
	}
	return x, y, err
}

// withNames replaces the IDs of entries, accounts and sources in a text by numbers and names.
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

// instant returns one of a few instants, so that some events have the same time.
func (l *randomHistory) instant() string {
	day := rapid.IntRange(0, 24).Draw(l.T, "day")
	return time.Date(2025, 1, 1+5*day, 12, 0, 0, 0, time.UTC).Format(time.RFC3339)
}

// entries returns the entries that satisfy a condition, the newest first.
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

// pending returns the transactions that have no entry.
func (l *randomHistory) pending() []transaction.Transaction {
	all, err := l.txns.List(l.ctx, transaction.ListParams{Request: page.Request{Limit: 100}})
	if err != nil {
		l.Fatal(err)
	}
	slices.SortFunc(all.Items, func(a, b transaction.Transaction) int { return cmp.Compare(a.Number, b.Number) })
	return slices.DeleteFunc(all.Items, func(t transaction.Transaction) bool { return t.JournalEntryID != "" })
}
