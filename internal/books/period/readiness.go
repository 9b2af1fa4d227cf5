package period

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Readiness is the results of the readiness checks of a period.
type Readiness struct {
	Period Period
	Checks []CheckResult
}

// Ready reports whether no check failed.
func (r Readiness) Ready() bool { return len(failed(r.Checks)) == 0 }

// CheckResult is the result of one readiness check, for one legal entity or, if LegalEntityID is empty, for all.
type CheckResult struct {
	Code          string
	Status        CheckStatus
	LegalEntityID string
	Count         int64
	Message       string
	SampleIDs     []string // a few of the records that were counted
	Overridable   bool     // the period may be closed all the same, with a reason
}

// ReadinessCheck checks a condition for closing a period and returns a result for each of some legal entities.
type ReadinessCheck func(ctx context.Context, tx *db.Tx, p Period, entities []entity.LegalEntity) ([]CheckResult, error)

// NewCheckResult returns a result that passes if count is zero and fails otherwise.
func NewCheckResult(e entity.LegalEntity, code string, count int64, samples []string, passed, failed string) CheckResult {
	v := CheckResult{Code: code, Status: Pass, LegalEntityID: e.ID, Count: count, Message: passed, SampleIDs: samples}
	if count > 0 {
		v.Status, v.Message = Fail, failed
	}
	if v.SampleIDs == nil {
		v.SampleIDs = []string{}
	}
	return v
}

// OthersMust says in a message how many of the records it counts a key that is limited to legal entities cannot deal with, because they
// concern others too. It returns nothing if there are none.
func OthersMust(do string, count int64) string {
	if count == 0 {
		return ""
	}
	subject, object := fmt.Sprintf("%d of them also concern", count), "these"
	if count == 1 {
		subject, object = "1 of them also concerns", "it"
	}
	return fmt.Sprintf(". %s a legal entity that this key has no access to: %s %s with a key that is not limited to legal entities",
		subject, do, object)
}

// CheckStatus is the result of a check in one word.
type CheckStatus string

// The statuses. Only a failed check prevents the close.
const (
	Pass CheckStatus = "pass"
	Warn CheckStatus = "warn"
	Fail CheckStatus = "fail"
)

// The checks.
const (
	CodeAlreadyClosed     = "already_closed"
	CodeNotOver           = "period_not_over"
	CodePreviousOpen      = "previous_period_open"
	CodeDrafts            = "drafts"
	CodeSuspense          = "suspense_balance"
	CodeClearing          = "clearing_balance"
	CodeInTransit         = "lots_in_transit"
	CodeUnbalancedPeriod  = "unbalanced_period"
	CodeBalancesDiffer    = "balances_differ"
	CodeUnbalancedEntries = "unbalanced_entries"
)

// samplesMax is how many of the records that were counted a result names.
const samplesMax = 5

// Readiness runs the checks that Close runs and changes nothing.
func (s *Service) Readiness(ctx context.Context, periodID, legalEntityID string) (r Readiness, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if r.Period, err = selectOne(ctx, tx, periodID); err != nil {
			return err
		}
		o, err := loadCloseStatus(ctx, tx, legalEntityID)
		if err != nil {
			return err
		}
		x, err := s.examine(ctx, tx, r.Period, o)
		if err != nil {
			return err
		}
		r.Checks = x.results
		return nil
	})
	return r, err
}

func failed(results []CheckResult) (out []CheckResult) {
	for _, v := range results {
		if v.Status == Fail {
			out = append(out, v)
		}
	}
	return out
}

// examination is a run of the readiness checks of a period, for the legal entities for which it is open.
type examination struct {
	period    Period
	entities  []entity.LegalEntity
	positions map[string][]Position  // by legal entity
	inTransit map[string][]InTransit // by legal entity
	digests   map[string]*digest     // by legal entity
	results   []CheckResult

	findTransit FindTransit
}

// addResult adds the result of a check.
func (x *examination) addResult(e entity.LegalEntity, code string, count int64, samples []string, passed, failed string) {
	x.results = append(x.results, NewCheckResult(e, code, count, samples, passed, failed))
}

// override turns overridable failures into warnings.
func (x *examination) override() {
	for i, v := range x.results {
		if v.Status == Fail && v.Overridable {
			x.results[i].Status = Warn
		}
	}
}

// examine runs every readiness check.
func (s *Service) examine(ctx context.Context, tx *db.Tx, p Period, o closeStatus) (*examination, error) {
	open, closed := o.partition(p)
	x := &examination{period: p, entities: open, findTransit: s.findTransit}
	if len(open) == 0 {
		x.addResult(entity.LegalEntity{}, CodeAlreadyClosed, max(1, int64(len(closed))), entityIDs(closed[:min(samplesMax, len(closed))]), "",
			"the period is closed already")
		return x, nil
	}
	notOver := int64(0)
	if !p.over(tx.Now()) {
		notOver = 1
	}
	x.addResult(entity.LegalEntity{}, CodeNotOver, notOver, nil, "the period is over", "the period is not over: it can be closed after "+
		p.lastDay())
	for _, check := range []func(context.Context, *db.Tx, closeStatus) error{x.checkOrder, x.checkDrafts, x.checkBalances} {
		if err := check(ctx, tx, o); err != nil {
			return nil, err
		}
	}
	for _, inspect := range s.extraChecks {
		results, err := inspect(ctx, tx, p, open)
		if err != nil {
			return nil, err
		}
		x.results = append(x.results, results...)
	}
	return x, nil
}

// checkOrder checks that every earlier period is closed.
func (x *examination) checkOrder(ctx context.Context, tx *db.Tx, o closeStatus) error {
	periods, err := selectAll(ctx, tx)
	if err != nil {
		return err
	}
	for _, e := range x.entities {
		var ids, keys []string
		for _, p := range periods {
			if p.Key < x.period.Key && !o.closed(p, e) {
				ids, keys = append(ids, p.ID), append(keys, p.Key)
			}
		}
		x.addResult(e, CodePreviousOpen, int64(len(ids)), ids[:min(samplesMax, len(ids))], "every earlier period is closed",
			"earlier periods are open and must be closed first: "+joinFirst(keys, len(keys)))
	}
	return nil
}

// joinFirst joins the first names and says how many more there are in total.
func joinFirst(names []string, of int) string {
	shown := names[:min(samplesMax, len(names))]
	text := strings.Join(shown, ", ")
	if more := of - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// checkDrafts checks that no draft is dated in the period.
func (x *examination) checkDrafts(ctx context.Context, tx *db.Tx, _ closeStatus) error {
	counts, err := countDrafts(ctx, tx, x.period, entityIDs(x.entities))
	if err != nil {
		return err
	}
	for _, e := range x.entities {
		var sample []entryRef
		var beyond int64
		if counts[e.ID] > 0 {
			if sample, err = selectDrafts(ctx, tx, x.period, e.ID, samplesMax); err != nil {
				return err
			}
			if beyond, err = countDraftsBeyond(ctx, tx, x.period, e.ID); err != nil {
				return err
			}
		}
		ids, numbers := idsAndNumbers(sample)
		x.addResult(e, CodeDrafts, counts[e.ID], ids, "no draft is dated in the period",
			"drafts are dated in the period, post or delete them: "+joinFirst(numbers, int(counts[e.ID]))+
				OthersMust("post or delete", beyond))
	}
	return nil
}

func idsAndNumbers(entries []entryRef) (ids, numbers []string) {
	for _, e := range entries {
		ids, numbers = append(ids, e.ID), append(numbers, fmt.Sprint("JE-", e.Number))
	}
	return ids, numbers
}

// checkBalances checks clearing accounts, the trial balance, that balances are the sums of their lines, and that each entry
// balances.
func (x *examination) checkBalances(ctx context.Context, tx *db.Tx, _ closeStatus) error {
	accounts, err := account.All(ctx, tx) // not from books/snapshot, which imports this package; the lines read below cost far more
	if err != nil {
		return err
	}
	byID := make(map[string]account.Account, len(accounts))
	for _, a := range accounts {
		byID[a.ID] = a
	}
	if x.positions, err = selectPositions(ctx, tx, x.period, entityIDs(x.entities)); err != nil {
		return err
	}
	if x.inTransit, err = x.findTransit(ctx, tx, x.period, entityIDs(x.entities)); err != nil {
		return err
	}
	if x.digests, err = computeDigests(ctx, tx, x.period, entityIDs(x.entities)); err != nil {
		return err
	}
	for _, e := range x.entities {
		x.checkClearing(e, byID)
		x.checkTrialBalance(e)
		x.checkTotals(e, byID)
		ids, numbers := idsAndNumbers(x.digests[e.ID].unbalanced)
		x.addResult(e, CodeUnbalancedEntries, int64(len(ids)), ids[:min(samplesMax, len(ids))], "every entry balances",
			"entries do not balance: "+joinFirst(numbers, len(numbers)))
	}
	return nil
}

// checkClearing checks that clearing and suspense accounts have no balance. Lots in transit between two sources explain the
// balance of a clearing account: they are listed as a warning.
func (x *examination) checkClearing(e entity.LegalEntity, accounts map[string]account.Account) {
	var ids, texts [3][]string // clearing, suspense, in transit
	waits := map[string]money.Decimal{}
	for _, w := range x.inTransit[e.ID] {
		waits[w.LedgerAccountID] = waits[w.LedgerAccountID].Add(w.Basis)
	}
	for _, w := range x.inTransit[e.ID] {
		if a := accounts[w.LedgerAccountID]; a.Clearing && x.closingBalance(e, a.ID).Equal(waits[a.ID]) {
			ids[2], texts[2] = append(ids[2], a.ID), append(texts[2], fmt.Sprintf("%s %s on %s", w.Quantity, w.AssetType, a))
		}
	}
	for _, at := range x.positions[e.ID] {
		a := accounts[at.LedgerAccountID]
		if at.Closing.IsZero() || !a.Clearing && a.Role != account.RoleSuspense {
			continue
		}
		sort := 0
		if a.Role == account.RoleSuspense {
			sort = 1
		} else if at.Closing.Equal(waits[a.ID]) {
			continue
		}
		ids[sort], texts[sort] = append(ids[sort], a.ID), append(texts[sort], fmt.Sprintf("%s %s %s", a, at.Closing.Fixed(e.BaseCurrency),
			e.BaseCurrency))
	}
	x.addResult(e, CodeSuspense, int64(len(ids[1])), ids[1], "nothing is in suspense",
		"something is in suspense: "+joinFirst(texts[1], len(texts[1])))
	x.addResult(e, CodeClearing, int64(len(ids[0])), ids[0][:min(samplesMax, len(ids[0]))], "every clearing account is at zero",
		"clearing accounts are not at zero: "+joinFirst(texts[0], len(texts[0])))
	if n := len(ids[2]); n > 0 {
		v := NewCheckResult(e, CodeInTransit, int64(n), ids[2][:min(samplesMax, n)], "", "lots are in transit from one source to another: "+
			joinFirst(texts[2], n))
		v.Status = Warn
		x.results = append(x.results, v)
	}
}

// closingBalance returns the balance of an account at the end of the period.
func (x *examination) closingBalance(e entity.LegalEntity, accountID string) money.Decimal {
	for _, at := range x.positions[e.ID] {
		if at.LedgerAccountID == accountID {
			return at.Closing
		}
	}
	return money.Decimal{}
}

// checkTrialBalance checks that debits and credits are equal, in the period and before it.
func (x *examination) checkTrialBalance(e entity.LegalEntity) {
	var opening, during money.Decimal
	for _, at := range x.positions[e.ID] {
		opening, during = opening.Add(at.Opening), during.Add(at.Debits).Sub(at.Credits)
	}
	wrong := int64(0)
	for _, difference := range []money.Decimal{opening, during} {
		if !difference.IsZero() {
			wrong++
		}
	}
	x.addResult(e, CodeUnbalancedPeriod, wrong, nil, "debits and credits are equal",
		fmt.Sprintf("debits exceed credits by %s in the period and by %s before it", during.Fixed(e.BaseCurrency), opening.Fixed(e.BaseCurrency)))
}

// checkTotals checks that the stored balances are the sums of the lines.
func (x *examination) checkTotals(e entity.LegalEntity, accounts map[string]account.Account) {
	stated := map[string]movement{}
	for _, at := range x.positions[e.ID] {
		stated[at.LedgerAccountID] = movement{at.Debits, at.Credits}
	}
	ids := differingAccounts(stated, x.digests[e.ID].movements)
	var texts []string
	for _, id := range ids {
		texts = append(texts, accounts[id].String())
	}
	x.addResult(e, CodeBalancesDiffer, int64(len(ids)), ids[:min(samplesMax, len(ids))], "the totals are the sums of the lines",
		"totals differ from the sums of their lines: "+joinFirst(texts, len(texts)))
}
