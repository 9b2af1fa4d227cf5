package period_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// damage changes rows with a statement of its own.
func (b *books) damage(t *testing.T, statement string, args ...any) {
	t.Helper()
	err := b.db.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement, args...)
		if n == 0 && err == nil {
			t.Errorf("%s did nothing", statement)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (b *books) readiness(t *testing.T, key, legalEntityID string) period.Readiness {
	t.Helper()
	r, err := b.periods.Readiness(b.ctx, b.id(t, key), legalEntityID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// find returns the result of a check for a legal entity.
func find(t *testing.T, r period.Readiness, code, legalEntityID string) period.CheckResult {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(v period.CheckResult) bool { return v.Code == code && v.LegalEntityID == legalEntityID })
	if i < 0 {
		t.Fatalf("no check %s for %q in %+v", code, legalEntityID, r.Checks)
	}
	return r.Checks[i]
}

func TestReadinessNamesWhatPreventsTheClose(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.post(t, "2026-02-10", sale)
		if r := b.readiness(t, "2026-02", ""); !r.Ready() || len(r.Checks) != 8 {
			t.Errorf("nothing is wrong: %+v", r)
		}
		expect := func(code string, count int64, samples int, words ...string) {
			t.Helper()
			entity := b.us
			if code == period.CodeNotOver {
				entity = ""
			}
			r := b.readiness(t, "2026-02", "")
			v := find(t, r, code, entity)
			if r.Ready() || v.Status != period.Fail || v.Count != count || len(v.SampleIDs) != samples {
				t.Errorf("%s: %+v", code, v)
			}
			for _, w := range words {
				if !strings.Contains(v.Message, w) {
					t.Errorf("%s says %q, without %q", code, v.Message, w)
				}
			}
			for _, other := range r.Checks {
				if other.Code != code && other.Status != period.Pass {
					t.Errorf("%s, but also %+v", code, other)
				}
			}
			if _, err := b.periods.Close(b.ctx, b.id(t, "2026-02"), ""); !refused(err, code) || !strings.Contains(err.Error(), v.Message) {
				t.Errorf("%s: close says %v", code, err)
			}
		}
		var drafts []journal.Entry
		for range 7 {
			drafts = append(drafts, b.make(t, b.draft("2026-02-28T23:59:59Z", sale)))
		}
		b.make(t, b.draft("2026-03-01", sale))
		b.make(t, b.draft("2026-01-31T23:59:59Z", sale))
		expect(period.CodeDrafts, 7, 5, drafts[0].SequenceNumber()+", ", " and 2 more")
		for _, e := range drafts {
			if err := b.journal.Delete(b.ctx, e.ID); err != nil {
				t.Fatal(err)
			}
		}
		b.post(t, "2026-02-11", "us Dr 1910 12.5\nus Cr 4010 12.5")
		expect(period.CodeSuspense, 1, 1, "1910 Suspense 12.50 USD")
		b.post(t, "2026-03-05", "us Dr 4010 12.5\nus Cr 1910 12.5") // too late for February
		expect(period.CodeSuspense, 1, 1)
		b.post(t, "2026-02-12", "us Dr 4010 12.5\nus Cr 1910 12.5")
		b.post(t, "2026-02-13", "us Dr 1920 1\nus Dr 1930 2\nus Cr 4010 3")
		expect(period.CodeClearing, 2, 2, "1920 Swap clearing 1.00 USD", "1930 Transfer clearing 2.00 USD")
		b.post(t, "2026-02-13", "us Cr 1920 1\nus Cr 1930 2\nus Dr 4010 3")
		b.at("2026-02-28T23:59:59Z")
		expect(period.CodeNotOver, 1, 0, "2026-02-28")
		b.at("2026-03-15T00:00:00Z")
		b.id(t, "2025-12")
		expect(period.CodePreviousOpen, 2, 2, "2025-12, 2026-01")
	})
}

func TestReadinessFindsBooksThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	damages := []struct{ statement, code, sample string }{
		{"UPDATE account_balances SET debits = '101' WHERE organization_id = ? AND tag_id = '' AND debits = '100'",
			period.CodeBalancesDiffer, "account"},
		{"UPDATE account_balances SET debits = '101' WHERE organization_id = ? AND tag_id = '' AND debits = '100'",
			period.CodeUnbalancedPeriod, ""},
		{"DELETE FROM account_balances WHERE organization_id = ?", period.CodeBalancesDiffer, "account"},
		{"UPDATE journal_lines SET base_amount = '99' WHERE organization_id = ? AND position = 0", period.CodeUnbalancedEntries, "entry"},
		{"UPDATE journal_lines SET base_amount = '99' WHERE organization_id = ? AND position = 0", period.CodeBalancesDiffer, "account"},
		{"DELETE FROM journal_lines WHERE organization_id = ? AND position = 0", period.CodeUnbalancedEntries, "entry"},
	}
	each(t, "UTC", func(t *testing.T, first *books) {
		for _, c := range damages {
			b := open(t, first.db, first.now, "UTC")
			e := b.post(t, "2026-02-10", sale)
			b.damage(t, c.statement, b.org)
			v := find(t, b.readiness(t, "2026-02", b.us), c.code, b.us)
			want := map[string]string{"account": b.accounts["1010"], "entry": e.ID}[c.sample]
			if v.Status != period.Fail || v.Count < 1 || want != "" && !slices.Contains(v.SampleIDs, want) {
				t.Errorf("%s: %+v", c.statement, v)
			}
			if _, err := b.periods.Close(b.ctx, b.id(t, "2026-02"), ""); fault.KindOf(err) != fault.Conflict ||
				!strings.Contains(err.Error(), c.code) {
				t.Errorf("%s: close says %v", c.statement, err)
			}
			b.expectDamage(t)
		}
	})
}

// expectDamage skips the verification of the books at the end of the test.
func (b *books) expectDamage(t *testing.T) {
	t.Helper()
	b.broken = true
	if len(b.verify(t)) == 0 {
		t.Error("nothing is broken")
	}
}

func TestReadinessChecksEachLegalEntityForWhichThePeriodIsOpen(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.addGermany(t)
		p := b.draft("2026-02-10", "de Dr 1010 9\nde Cr 4010 9")
		p.LegalEntityID = b.de
		b.make(t, p)
		id := b.id(t, "2026-02")
		r := b.readiness(t, "2026-02", "")
		if us, de := find(t, r, period.CodeDrafts, b.us), find(t, r, period.CodeDrafts, b.de); us.Status != period.Pass ||
			de.Status != period.Fail || r.Ready() {
			t.Errorf("%+v %+v", us, de)
		}
		if _, err := b.periods.Close(b.ctx, id, ""); !refused(err, period.CodeDrafts) || !strings.Contains(err.Error(), "DE GmbH: ") {
			t.Errorf("%v", err)
		}
		if r := b.readiness(t, "2026-02", b.us); !r.Ready() {
			t.Errorf("%+v", r)
		}
		b.close(t, "2026-02", b.us)
		if r := b.readiness(t, "2026-02", ""); slices.ContainsFunc(r.Checks, func(v period.CheckResult) bool { return v.LegalEntityID == b.us }) {
			t.Errorf("a legal entity for which the period is closed is checked: %+v", r)
		}
		r = b.readiness(t, "2026-02", b.us)
		if v := find(t, r, period.CodeAlreadyClosed, ""); r.Ready() || v.Status != period.Fail || !slices.Equal(v.SampleIDs, []string{b.us}) {
			t.Errorf("%+v", r)
		}
		if r, err := b.periods.Readiness(b.limitedTo(b.us), id, ""); err != nil || len(r.Checks) != 1 {
			t.Errorf("seen by a key for one: %+v %v", r, err)
		}
	})
}

func TestPeriodsAreListedTheLatestFirstAndFound(t *testing.T) {
	t.Parallel()
	each(t, "America/New_York", func(t *testing.T, b *books) {
		b.addGermany(t)
		b.id(t, "2025-11")
		for _, key := range []string{"2025-11", "2025-12", "2026-01"} {
			b.close(t, key, b.us)
		}
		b.close(t, "2025-11", b.de)
		for _, c := range []struct {
			f    period.Filter
			ctx  context.Context
			want string
		}{
			{period.Filter{}, b.ctx, "2026-03 2026-02 2026-01 2025-12 2025-11"},
			{period.Filter{Status: period.StatusOpen}, b.ctx, "2026-03 2026-02"},
			{period.Filter{Status: period.StatusPartlyClosed}, b.ctx, "2026-01 2025-12"},
			{period.Filter{Status: period.StatusClosed}, b.ctx, "2025-11"},
			{period.Filter{Status: period.StatusClosed, LegalEntityID: b.us}, b.ctx, "2026-01 2025-12 2025-11"},
			{period.Filter{Status: period.StatusOpen, LegalEntityID: b.de}, b.ctx, "2026-03 2026-02 2026-01 2025-12"},
			{period.Filter{Status: period.StatusPartlyClosed, LegalEntityID: b.us}, b.ctx, ""},
			{period.Filter{Status: period.StatusClosed}, b.limitedTo(b.us), "2026-01 2025-12 2025-11"},
			{period.Filter{From: "2026-01-31"}, b.ctx, "2026-03 2026-02 2026-01"},
			{period.Filter{From: "2026-02-01T04:59:59Z"}, b.ctx, "2026-03 2026-02 2026-01"},
			{period.Filter{From: "2026-02-01T05:00:00Z"}, b.ctx, "2026-03 2026-02"},
			{period.Filter{To: "2025-12-31"}, b.ctx, "2025-12 2025-11"},
			{period.Filter{To: "2026-01-01"}, b.ctx, "2026-01 2025-12 2025-11"},
			{period.Filter{To: "2026-01-01T04:59:59Z"}, b.ctx, "2025-12 2025-11"},
			{period.Filter{From: "2025-12-15", To: "2026-01-15", Status: period.StatusPartlyClosed}, b.ctx, "2026-01 2025-12"},
		} {
			var got []string
			for _, limit := range []int{100, 2} {
				got = nil
				request := page.Request{Limit: limit}
				for {
					p, err := b.periods.List(c.ctx, c.f, request)
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range p.Items {
						got = append(got, s.Key)
					}
					if request.Cursor = p.NextCursor; !p.HasMore {
						break
					}
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("%+v by %d: %v, want %s", c.f, limit, got, c.want)
				}
			}
		}
		_, err := b.periods.List(b.ctx, period.Filter{From: "x", To: "2026-02-30"}, page.Request{Limit: 1})
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "start_date") || !strings.Contains(err.Error(), "end_date") {
			t.Errorf("%v", err)
		}
		if _, err := b.periods.List(b.limitedTo(b.us), period.Filter{LegalEntityID: b.de},
			page.Request{Limit: 1}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	})
}

func TestGuidanceSaysWhatOrderAndTimeAllow(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.addGermany(t)
		b.id(t, "2026-01")
		b.close(t, "2026-01", b.us)
		expect := func(ctx context.Context, key, allowed string, warnings ...string) {
			t.Helper()
			s, err := b.periods.Get(ctx, b.id(t, key))
			if strings.Contains(allowed, "close") {
				warnings = append([]string{"whether the books are ready to close is not checked here: see GET /v1/accounting-periods/" + s.ID +
					"/readiness, then close"}, warnings...)
			}
			if err != nil || strings.Join(s.Guidance.Allowed, " ") != allowed || strings.Join(s.Guidance.Warnings,
				"; ") != strings.Join(warnings, "; ") || s.Guidance.Version == "" {
				t.Errorf("%s: %+v %v", key, s.Guidance, err)
			}
		}
		expect(b.ctx, "2026-01", "close reopen")
		expect(b.ctx, "2026-02", "", "DE GmbH: 2026-01 is open and must be closed first")
		expect(b.limitedTo(b.us), "2026-02", "close")
		expect(b.limitedTo(b.us), "2026-01", "reopen")
		expect(b.ctx, "2026-03", "", "the period is not over: it can be closed after 2026-03-31",
			"US Co: 2026-02 is open and must be closed first", "DE GmbH: 2026-01 is open and must be closed first")
		before, err := b.periods.Get(b.ctx, b.id(t, "2026-01"))
		if err != nil {
			t.Fatal(err)
		}
		after := b.close(t, "2026-02", b.us)
		expect(b.ctx, "2026-01", "close", "US Co: 2026-02 is closed and must be reopened first")
		if now, err := b.periods.Get(b.ctx, after.ID); err != nil || now.Guidance.Version != after.Guidance.Version ||
			now.Guidance.Version == before.Guidance.Version {
			t.Errorf("versions %s, then %s and %s", before.Guidance.Version, after.Guidance.Version, now.Guidance.Version)
		}
	})
}
