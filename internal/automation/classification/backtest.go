package classification

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// TestParams select the rule to test and the days to test it on. The rule is a stored one, or an unsaved one, which may
// replace a stored one for the test.
type TestParams struct {
	RuleID             string
	Rule               *memory.RuleParams
	StartDate, EndDate string
}

const (
	// changesShown and conflictsShown bound the lists of a result; the counts are complete.
	changesShown   = 100
	conflictsShown = 50
	// examinedMax is the maximum number of transactions that one test examines.
	examinedMax = 250_000
	// testBatch is how many transactions are read at a time. A filter that no index has in order costs as much for few as for many.
	testBatch = 5000
	// unsaved is the id of a rule that is not stored; it sorts after all others.
	unsaved = "rul_~"
)

// Tested is the result of testing a rule.
type Tested struct {
	Examined  int64 // transactions that were evaluated one by one
	Matched   int64 // of those, the ones that the rule matches
	Decided   int64 // of the matched: no other rule takes precedence
	Pending   int64 // of the decided: not posted yet
	Agreeing  int64 // of the decided: posted as the rule would
	Differing int64 // of the decided: posted to another account or with another type
	Changed   int64 // of the pending: classified differently, or not at all, without the rule
	Changes   []TestChange
	Conflicts []TestConflict
	Truncated bool // there were more transactions than one test examines
}

// TestChange is a transaction that the rule would classify differently than the other rules do, or than it was booked.
type TestChange struct {
	TransactionID string
	Number        int64
	Status        transaction.Status
	Before, After Decided
}

// Decided is an account and a type, and the rule that decided them; empty if nothing did.
type Decided struct {
	LedgerAccountID string
	Type            string
	RuleID          string
}

// TestConflict is another rule that matches some of the same transactions.
type TestConflict struct {
	RuleID  string
	Version int64
	Matched int64 // by both rules
	Wins    int64 // of those, the ones where the tested rule takes precedence
	Loses   int64 // of those, the ones where the other rule takes precedence
	Differs bool  // for some of them it decides another account or type
}

// Test evaluates a rule on the transactions of some days and writes nothing. It reads them in batches that take turns with other heavy
// work, each as it is when it is read, and stops when the context ends.
func (s *Service) Test(ctx context.Context, p TestParams) (out Tested, err error) {
	if p.RuleID == "" && p.Rule == nil {
		return out, fault.Invalidf("rule", "is required unless rule_id is given")
	}
	var t *tester
	err = s.DB.ReadInTurn(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		var faults fault.List
		page.ParseTimeBound(&faults, "start_date", p.StartDate, false)
		page.ParseTimeBound(&faults, "end_date", p.EndDate, true)
		t, err = newTester(ctx, tx, p)
		if err := faults.Merge(err); err != nil {
			return err
		}
		return faults.Err()
	})
	if err != nil {
		return out, err
	}
	f := narrow(t.rule)
	f.StartDate, f.EndDate = p.StartDate, p.EndDate
	var last *transaction.Position
	for end := false; !end; {
		err := s.DB.ReadInTurn(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			last, end, err = t.testBatch(ctx, tx, f, last)
			return err
		})
		if err != nil {
			return out, err
		}
	}
	return t.result(), nil
}

// tester evaluates a rule on transactions.
type tester struct {
	rule      classify.Rule
	alone     *classify.Matcher // the tested rule only
	scratch   classify.Scratch
	with      decider // the tested rule and all others
	without   decider // the others only
	conflicts map[string]*TestConflict
	out       Tested
}

func newTester(ctx context.Context, tx *db.Tx, p TestParams) (*tester, error) {
	revision, err := memory.Revision(ctx, tx)
	if err != nil {
		return nil, err
	}
	rules, err := memory.ClassificationRules(ctx, tx, revision)
	if err != nil {
		return nil, err
	}
	t := &tester{conflicts: map[string]*TestConflict{}}
	var faults fault.List
	if p.RuleID != "" {
		saved, err := memory.FindRule(ctx, tx, p.RuleID)
		if err := faults.MergeMissing(err, "rule_id"); err != nil {
			return nil, err
		}
		if err == nil && saved.Type != memory.Classification {
			faults.Addf("rule_id", "is a rule for cash application: only classification rules can be tested")
		}
		t.rule = saved.Matching()
	}
	if p.Rule != nil {
		t.rule, err = memory.ValidateRule(ctx, tx, *p.Rule)
		if err := faults.Merge(fault.PrefixFields("rule.", err)); err != nil {
			return nil, err
		}
		t.rule.ID = cmp.Or(p.RuleID, unsaved)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(rules, func(r classify.Rule) bool { return r.ID == t.rule.ID })
	b, err := snapshot.Read(ctx, tx)
	t.alone = classify.Compile([]classify.Rule{t.rule})
	t.without = decider{matcher: classify.Compile(others), books: b}
	t.with = decider{matcher: classify.Compile(append(slices.Clone(others), t.rule)), books: b}
	return t, err
}

// narrow returns a filter that matches everything a rule can match, and as little else as the indexes allow.
func narrow(r classify.Rule) (f transaction.Filter) {
	if r.Address != "" {
		f.Addresses = []string{r.Address}
	}
	if r.Category != "" && !strings.ContainsAny(r.Category, ";") && !strings.ContainsFunc(r.Category, isUnusual) {
		f.ProviderCategory = []string{r.Category}
	}
	for word := range strings.FieldsSeq(r.MemoContains + " " + r.Merchant) {
		if !strings.ContainsFunc(word, isUnusual) && utf8.RuneCountInString(word) > max(2, utf8.RuneCountInString(f.Search)) {
			f.Search = word
		}
	}
	switch r.Direction {
	case classify.Deposit:
		f.Direction = string(transaction.Credit)
	case classify.Withdrawal:
		f.Direction = string(transaction.Debit)
	}
	return f
}

// isUnusual reports whether databases and rules may fold the case of a character differently, or whether it is white
// space, which rules collapse.
func isUnusual(r rune) bool { return r >= utf8.RuneSelf || r <= ' ' }

// testBatch tests the rule on the next transactions that match a filter, after the last one that was tested. It returns the last one then,
// and whether the test is at its end.
func (t *tester) testBatch(ctx context.Context, tx *db.Tx, f transaction.Filter, last *transaction.Position) (
	*transaction.Position, bool, error) {
	batch, err := transaction.ListAfter(ctx, tx, f, last, testBatch)
	if err != nil {
		return nil, false, err
	}
	var entries []string
	for _, one := range batch {
		if one.Status == transaction.Posted {
			entries = append(entries, one.JournalEntryID)
		}
	}
	booked, err := booking.Targets(ctx, tx, entries)
	if err != nil {
		return nil, false, err
	}
	for _, one := range batch {
		t.testOne(one, booked[one.JournalEntryID])
	}
	t.out.Examined += int64(len(batch))
	if len(batch) < testBatch {
		return nil, true, nil
	}
	t.out.Truncated = t.out.Examined >= examinedMax
	end := batch[len(batch)-1]
	return &transaction.Position{At: end.At, Number: end.Number}, t.out.Truncated, nil
}

// testOne tests the rule on one transaction. booked is how it was posted.
func (t *tester) testOne(one transaction.Transaction, booked booking.Target) {
	s := subjectOf(one)
	if t.alone.Match(s, &t.scratch).Rule == nil {
		return
	}
	t.out.Matched++
	found := t.with.matcher.Match(s, &t.with.scratch)
	t.addConflicts(one, append([]*classify.Rule{found.Rule}, found.Others...))
	if found.Rule.ID != t.rule.ID {
		return
	}
	t.out.Decided++
	after := t.with.decided(one, found.Rule)
	var before Decided
	if one.Status == transaction.Posted {
		before = Decided{LedgerAccountID: booked.LedgerAccountID, Type: booked.Type}
		if before.LedgerAccountID == after.LedgerAccountID && before.Type == after.Type {
			t.out.Agreeing++
			return
		}
		t.out.Differing++
	} else {
		t.out.Pending++
		if other := t.without.matcher.Match(s, &t.without.scratch).Rule; other != nil {
			before = t.without.decided(one, other)
		}
		if before.LedgerAccountID == after.LedgerAccountID && before.Type == after.Type {
			return
		}
		t.out.Changed++
	}
	if len(t.out.Changes) < changesShown {
		t.out.Changes = append(t.out.Changes, TestChange{TransactionID: one.ID, Number: one.Number, Status: one.Status, Before: before,
			After: after})
	}
}

// decided returns what a rule decides about a transaction.
func (d *decider) decided(t transaction.Transaction, r *classify.Rule) Decided {
	return Decided{r.LedgerAccountID, d.typeOf(r, t), r.ID}
}

// addConflicts counts the other rules that match a transaction. matched is in order of precedence.
func (t *tester) addConflicts(one transaction.Transaction, matched []*classify.Rule) {
	mine := slices.IndexFunc(matched, func(r *classify.Rule) bool { return r.ID == t.rule.ID })
	says := t.with.decided(one, matched[mine])
	for i, r := range matched {
		if i == mine {
			continue
		}
		c := t.conflicts[r.ID]
		if c == nil {
			c = &TestConflict{RuleID: r.ID, Version: r.Version}
			t.conflicts[r.ID] = c
		}
		c.Matched++
		if i < mine {
			c.Loses++
		} else {
			c.Wins++
		}
		other := t.with.decided(one, r)
		c.Differs = c.Differs || other.LedgerAccountID != says.LedgerAccountID || other.Type != says.Type
	}
}

// result returns the result, the rules with the most conflicts first.
func (t *tester) result() Tested {
	out := t.out
	for _, c := range slices.SortedFunc(maps.Values(t.conflicts), func(a, b *TestConflict) int {
		return cmp.Or(cmp.Compare(b.Matched, a.Matched), cmp.Compare(a.RuleID, b.RuleID))
	}) {
		if len(out.Conflicts) < conflictsShown {
			out.Conflicts = append(out.Conflicts, *c)
		}
	}
	if t.rule.ID == unsaved {
		for i := range out.Changes {
			out.Changes[i].After.RuleID = ""
		}
	}
	return out
}
