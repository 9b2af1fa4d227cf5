package period_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// frozen formats a closing package as text: "1010 0/100.5/0/100.5" is opening, debits, credits and closing.
func frozen(e period.EntityPackage) string {
	var out []string
	for _, at := range e.Positions {
		out = append(out, fmt.Sprintf("%s %s/%s/%s/%s", at.Account.Code, at.Opening, at.Debits, at.Credits, at.Closing))
	}
	return strings.Join(out, " ")
}

func (b *books) closingPackage(t *testing.T, key, legalEntityID string) period.EntityPackage {
	t.Helper()
	p, err := b.periods.Package(b.ctx, b.id(t, key), legalEntityID)
	if err != nil || len(p.Entities) != 1 {
		t.Fatal(p, err)
	}
	return p.Entities[0]
}

// refused reports whether an error is a conflict that names exactly some checks.
func refused(err error, codes ...string) bool {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict || len(f.Fields) != len(codes) {
		return false
	}
	for _, field := range f.Fields {
		if !slices.Contains(codes, field.Name) || field.Message == "" {
			return false
		}
	}
	return true
}

func TestClosingAPeriodStoresItsBalancesAndHash(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.post(t, "2026-01-31T23:59:59.999Z", sale)
		b.post(t, "2026-02-01", "us Dr 1010 50.25\nus Cr 4010 50.25")
		red := " #" + b.tag(t, "red") // is counted once, tagged or not
		b.post(t, "2026-02-28", "us Dr 6010 30"+red+"\nus Cr 1010 30"+red)
		b.post(t, "2026-03-01", sale) // not in it
		b.make(t, b.draft("2026-03-02", sale))
		b.close(t, "2026-01", "")
		s := b.close(t, "2026-02", "")
		if s.Status() != period.StatusClosed || len(s.Entities) != 1 || s.Entities[0].Closing == nil ||
			s.Entities[0].Closing.ClosedBy == "" || !s.Entities[0].Closing.ClosedAt.Equal(b.now.Now()) {
			t.Errorf("%+v", s)
		}
		january, february := b.closingPackage(t, "2026-01", ""), b.closingPackage(t, "2026-02", b.us)
		if got := frozen(january); got != "1010 0/100/0/100 4010 0/0/100/-100" || january.Closing.EntryCount != 1 {
			t.Errorf("January: %s of %d entries", got, january.Closing.EntryCount)
		}
		if got := frozen(february); got != "1010 100/50.25/30/120.25 4010 -100/0/50.25/-150.25 6010 0/30/0/30" ||
			february.Closing.EntryCount != 2 {
			t.Errorf("February: %s of %d entries", got, february.Closing.EntryCount)
		}
		hex := regexp.MustCompile("^[0-9a-f]{64}$")
		if !hex.MatchString(january.Closing.Hash) || !hex.MatchString(february.Closing.Hash) || january.Closing.Hash == february.Closing.Hash {
			t.Errorf("hashes %s and %s", january.Closing.Hash, february.Closing.Hash)
		}
		if march := b.closingPackage(t, "2026-03", ""); march.Closing != nil || march.Positions != nil || march.History != nil {
			t.Errorf("March, which is open: %+v", march)
		}
		late := b.post(t, "2026-01-15", sale)
		if !late.AccountingDate.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) || !late.Reassigned() {
			t.Errorf("a late entry is dated %s", late.AccountingDate)
		}
		if again := b.closingPackage(t, "2026-02", ""); again.Closing.Hash != february.Closing.Hash || frozen(again) != frozen(february) {
			t.Error("what was frozen changed")
		}
	})
}

func TestPeriodsCloseInOrderAndReopenInReverse(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		ids := map[string]string{}
		for _, key := range []string{"2025-12", "2026-01", "2026-02", "2026-03"} {
			ids[key] = b.id(t, key)
		}
		closing := func(key string, codes ...string) {
			t.Helper()
			if _, err := b.periods.Close(b.ctx, ids[key], ""); len(codes) == 0 && err != nil || len(codes) > 0 && !refused(err, codes...) {
				t.Errorf("close %s: %v", key, err)
			}
		}
		reopening := func(key, refusal string) {
			t.Helper()
			_, err := b.periods.Reopen(b.ctx, ids[key], period.ReopenParams{Reason: "a mistake"})
			if refusal == "" && err != nil || refusal != "" && (fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), refusal)) {
				t.Errorf("reopen %s: %v", key, err)
			}
		}
		closing("2026-01", period.CodePreviousOpen)
		reopening("2025-12", "is not closed")
		closing("2025-12")
		closing("2025-12", period.CodeAlreadyClosed)
		closing("2026-02", period.CodePreviousOpen)
		closing("2026-01")
		closing("2026-02")
		closing("2026-03", period.CodeNotOver)
		reopening("2025-12", "2026-02 is closed for US Co")
		reopening("2026-01", "2026-02 is closed for US Co")
		reopening("2026-02", "")
		reopening("2026-02", "is not closed")
		reopening("2026-01", "")
		closing("2026-02", period.CodePreviousOpen)
		closing("2026-01")
		b.at("2026-03-31T23:59:59Z")
		closing("2026-02")
		closing("2026-03", period.CodeNotOver)
		b.at("2026-04-01T00:00:00Z")
		closing("2026-03")
		for _, blank := range []string{"", "  ", strings.Repeat("é", 501)} {
			if _, err := b.periods.Reopen(b.ctx, ids["2026-03"], period.ReopenParams{Reason: blank}); fault.KindOf(err) != fault.Invalid {
				t.Errorf("reason %q: %v", blank, err)
			}
		}
	})
}

func TestAReopenedPeriodKeepsEveryCloseItHad(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.post(t, "2026-02-10", sale)
		b.close(t, "2026-02", "")
		first := b.closingPackage(t, "2026-02", "")
		b.now.Advance(time.Hour)
		s, err := b.periods.Reopen(b.ctx, b.id(t, "2026-02"), period.ReopenParams{Reason: " forgot one "})
		if err != nil || s.Status() != period.StatusOpen || s.Entities[0].Closing != nil {
			t.Fatalf("%+v %v", s, err)
		}
		if open := b.closingPackage(t, "2026-02", ""); open.Closing != nil || len(open.History) != 1 {
			t.Errorf("%+v", open)
		}
		late := b.post(t, "2026-02-11", sale)
		if late.Reassigned() {
			t.Error("the period is open, and yet the entry was moved")
		}
		b.close(t, "2026-02", "")
		second := b.closingPackage(t, "2026-02", "")
		if second.Closing.Hash == first.Closing.Hash || second.Closing.EntryCount != 2 || frozen(second) != "1010 0/200/0/200 4010 0/0/200/-200" {
			t.Errorf("%+v %s", second.Closing, frozen(second))
		}
		h := second.History
		if len(h) != 1 || h[0].ID != first.Closing.ID || h[0].Hash != first.Closing.Hash || h[0].EntryCount != 1 ||
			h[0].ReopenReason != "forgot one" || h[0].ReopenedBy == "" || !h[0].ReopenedAt.Equal(b.now.Now()) {
			t.Errorf("%+v", h)
		}
		type happened struct {
			Type string `db:"type"`
			Data string `db:"after"`
		}
		b.read(t, func(ctx context.Context, tx *db.Tx) error {
			events, err := db.All[happened](ctx, tx,
				`SELECT e.type, a.after FROM events e JOIN audit_log a ON a.organization_id = e.organization_id AND a.sequence = e.audit_sequence
				WHERE e.organization_id = @org AND e.type LIKE 'accounting_period.%' ORDER BY e.sequence`)
			if len(events) != 3 || events[0].Type != "accounting_period.closed" || events[1].Type != "accounting_period.reopened" ||
				events[2].Type != "accounting_period.closed" ||
				!strings.Contains(events[1].Data, `"reason":"forgot one"`) || !strings.Contains(events[2].Data, second.Closing.Hash) ||
				!strings.Contains(events[2].Data, `"key":"2026-02"`) {
				t.Errorf("%v", events)
			}
			return err
		})
	})
}

func TestEachLegalEntityClosesByItself(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.addGermany(t)
		b.post(t, "2026-02-10", sale)
		b.post(t, "2026-02-11", "us Dr 1010 7\nus Cr 4010 7\nde Dr 6010 5\nde Cr 1010 5") // belongs to both
		b.post(t, "2026-02-12", "de Dr 1010 9\nde Cr 4010 9")
		id := b.id(t, "2026-02")
		s := b.close(t, "2026-02", b.us)
		if s.Status() != period.StatusPartlyClosed || !s.Entities[0].Closed || s.Entities[1].Closed {
			t.Errorf("%+v", s)
		}
		if _, err := b.periods.Close(b.ctx, id, b.us); !refused(err, period.CodeAlreadyClosed) {
			t.Errorf("closed twice: %v", err)
		}
		if late := b.post(t, "2026-02-13", "de Dr 1010 1\nde Cr 4010 1\nus Dr 1010 1\nus Cr 4010 1"); !late.Reassigned() {
			t.Error("an entry with a line of a closed legal entity was posted in its period")
		}
		p := b.draft("2026-02-13", "de Dr 1010 1\nde Cr 4010 1")
		p.LegalEntityID, p.Status = b.de, journal.Posted
		if late := b.make(t, p); late.Reassigned() {
			t.Error("the other legal entity is not closed, and yet its entry was moved")
		}
		limited := b.limitedTo(b.de)
		s, err := b.periods.Get(limited, id)
		if err != nil || s.Status() != period.StatusOpen || len(s.Entities) != 1 || s.Entities[0].LegalEntityID != b.de {
			t.Errorf("seen by a key for one: %+v %v", s, err)
		}
		for name, call := range map[string]func() error{
			"close": func() error { _, err := b.periods.Close(limited, id, b.us); return err },
			"reopen": func() error {
				_, err := b.periods.Reopen(limited, id, period.ReopenParams{LegalEntityID: b.us, Reason: "x"})
				return err
			},
			"readiness": func() error { _, err := b.periods.Readiness(limited, id, b.us); return err },
			"package":   func() error { _, err := b.periods.Package(limited, id, b.us); return err },
		} {
			if err := call(); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s for a legal entity the key is not for: %v", name, err)
			}
		}
		if _, err := b.periods.Reopen(limited, id, period.ReopenParams{Reason: "x"}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a key for one reopened the other: %v", err)
		}
		if s, err = b.periods.Close(limited, id, ""); err != nil || s.Status() != period.StatusClosed || len(s.Entities) != 1 {
			t.Fatalf("%+v %v", s, err)
		}
		us, de := b.closingPackage(t, "2026-02", b.us), b.closingPackage(t, "2026-02", b.de)
		if us.Closing.EntryCount != 2 || frozen(us) != "1010 0/107/0/107 4010 0/0/107/-107" {
			t.Errorf("US: %d entries, %s", us.Closing.EntryCount, frozen(us))
		}
		if de.Closing.EntryCount != 3 || frozen(de) != "1010 0/10/5/5 4010 0/0/10/-10 6010 0/5/0/5" || de.Closing.Hash == us.Closing.Hash {
			t.Errorf("DE: %d entries, %s", de.Closing.EntryCount, frozen(de))
		}
		if s, err = b.periods.Reopen(b.ctx, id, period.ReopenParams{Reason: "all"}); err != nil || s.Status() != period.StatusOpen {
			t.Errorf("%+v %v", s, err)
		}
	})
}

// A month that is created before closed ones is closed for the same legal entities, so that the balances stored later stay valid.
func TestAMonthCreatedBeforeAClosedOneIsClosedToo(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.addGermany(t)
		b.id(t, "2026-02")
		b.close(t, "2026-02", b.us)
		p := b.draft("2025-11-05", "de Dr 1010 9\nde Cr 4010 9")
		p.LegalEntityID, p.Status = b.de, journal.Posted
		b.make(t, p)
		if late := b.post(t, "2025-11-06", sale); !late.Reassigned() {
			t.Error("an entry was posted before a closed period")
		}
		s, err := b.periods.Get(b.ctx, b.id(t, "2025-11"))
		if err != nil || s.Status() != period.StatusPartlyClosed || !s.Entities[0].Closed || s.Entities[0].Closing != nil ||
			s.Entities[1].Closed {
			t.Errorf("%+v %v", s, err)
		}
		if _, err := b.periods.Close(b.ctx, s.ID, b.us); !refused(err, period.CodeAlreadyClosed) {
			t.Errorf("%v", err)
		}
		if _, err := b.periods.Reopen(b.ctx, s.ID, period.ReopenParams{Reason: "x"}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%v", err)
		}
		b.close(t, "2025-11", "") // for the one it is open for
		if _, err := b.periods.Reopen(b.ctx, b.id(t, "2026-02"), period.ReopenParams{Reason: "x"}); err != nil {
			t.Error(err)
		}
		if s, err = b.periods.Get(b.ctx, s.ID); err != nil || s.Entities[0].Closed || !s.Entities[1].Closed {
			t.Errorf("after all later periods were reopened: %+v %v", s, err)
		}
	})
}

func TestNoPostSlipsIntoAPeriodThatIsBeingClosed(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		id := b.id(t, "2026-02")
		var wg sync.WaitGroup
		var mu sync.Mutex
		kept := 0
		for range 8 {
			wg.Go(func() {
				for range 12 {
					p := b.draft("2026-02-10", sale)
					p.Status = journal.Posted
					e, err := b.journal.Create(b.ctx, p)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if !e.Reassigned() {
						kept++
					}
					mu.Unlock()
				}
			})
		}
		wg.Go(func() {
			for range 3 {
				if _, err := b.periods.Close(b.ctx, id, ""); err != nil {
					t.Error(err)
				}
				if _, err := b.periods.Reopen(b.ctx, id, period.ReopenParams{Reason: "once more"}); err != nil {
					t.Error(err)
				}
			}
			if _, err := b.periods.Close(b.ctx, id, ""); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if c := b.closingPackage(t, "2026-02", "").Closing; c.EntryCount != int64(kept) {
			t.Errorf("%d entries were posted to the period, the closing has %d", kept, c.EntryCount)
		}
	})
}
