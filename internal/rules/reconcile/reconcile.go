// Package reconcile explains why the books of a source differ from what the source held: which transaction may be missing, recorded twice,
// not booked, or have a wrong fee or direction. It says how much of the difference each of these explains, and computes nothing else.
package reconcile

import (
	"cmp"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Kind is what may be wrong.
type Kind string

// The kinds, the most telling first: any difference can be explained by a transaction that is missing.
const (
	Unbooked  Kind = "unbooked"
	Rounding  Kind = "rounding"
	Duplicate Kind = "duplicate"
	WrongFee  Kind = "wrong_fee"
	WrongSign Kind = "wrong_sign"
	Missing   Kind = "missing_transaction"
)

// Kinds lists every kind in the order in which candidates are listed.
var Kinds = []Kind{Unbooked, Rounding, Duplicate, WrongFee, WrongSign, Missing}

const (
	// twinsWithin is how far apart two transactions may be that are one and the same: sources and files state days in different time zones.
	twinsWithin = 72 * time.Hour

	candidatesMax = 20
)

// Transaction is how a transaction moves one asset.
type Transaction struct {
	ID       string
	Name     string // for people
	At       time.Time
	Quantity money.Decimal // what was added, negative if it left
	Fee      money.Decimal // the part that is a fee, never negative
	OnlyFee  bool          // nothing but a fee moved
	Booked   bool
}

// Step is a span of time in which a part of the difference appeared.
type Step struct {
	After  time.Time // zero for everything before Until
	Until  time.Time
	Amount money.Decimal
}

// Input is what is known about a difference.
type Input struct {
	AssetType  string
	Difference money.Decimal // the books less what was observed

	// Pending is what transactions that are not booked would add, and Waiting how many there are. PendingIDs are the latest of them.
	Pending    money.Decimal
	Waiting    int64
	PendingIDs []string

	// Rounding is what the books have more than the booked transactions because entries are rounded to the minor unit of money.
	Rounding money.Decimal

	// Steps say when the rest of the difference appeared. They add up to it.
	Steps []Step

	// Transactions are those that are looked at.
	Transactions []Transaction
}

// Candidate is something that may be wrong.
type Candidate struct {
	Kind           Kind
	Explains       money.Decimal // the part of the difference that goes away when it is put right
	TransactionIDs []string
	Step           Step // in which it lies; zero for what is not booked
	Message        string
}

// Rest returns what would remain of the difference if everything were booked exactly. Less than the minor unit of money is nothing.
func (in Input) Rest() money.Decimal {
	rest := in.Difference.Add(in.Pending).Sub(in.Rounding)
	if rest.RoundTo(in.AssetType).IsZero() {
		return money.Decimal{}
	}
	return rest
}

// Explain returns candidates, those that explain the whole difference first.
func Explain(in Input) []Candidate {
	if in.Difference.IsZero() {
		return nil
	}
	out := in.unbooked()
	if !in.Rounding.RoundTo(in.AssetType).IsZero() {
		out = append(out, Candidate{Kind: Rounding, Explains: in.Rounding, TransactionIDs: []string{}, Message: in.messageOfRounding()})
	}
	for _, s := range in.Steps {
		if !s.Amount.IsZero() {
			out = append(out, in.explainStep(s, s.Amount, false)...)
			out = append(out, missing(in.AssetType, s))
		}
	}
	if rest := in.Rest(); !rest.IsZero() && !rest.Equal(in.Difference) { // what is not booked may have nothing to do with it
		all := Step{Until: latest(in.Steps), Amount: in.Difference}
		out = append(out, in.explainStep(all, in.Difference, true)...)
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		return cmp.Or(in.rank(a)-in.rank(b), slices.Index(Kinds, a.Kind)-slices.Index(Kinds, b.Kind))
	})
	out = distinct(out)
	return out[:min(len(out), candidatesMax)]
}

func (in Input) rank(c Candidate) int {
	if c.Explains.Equal(in.Difference) {
		return 0
	}
	return 1
}

func latest(steps []Step) (at time.Time) {
	for _, s := range steps {
		if s.Until.After(at) {
			at = s.Until
		}
	}
	return at
}

// distinct leaves out candidates that an earlier one repeats.
func distinct(all []Candidate) (out []Candidate) {
	for _, c := range all {
		if !slices.ContainsFunc(out, func(o Candidate) bool {
			return o.Kind == c.Kind && c.Kind != Missing && slices.Equal(o.TransactionIDs, c.TransactionIDs)
		}) {
			out = append(out, c)
		}
	}
	return out
}

// unbooked returns what is not booked: all of it, and single transactions or several in a row that explain the difference by themselves.
func (in Input) unbooked() (out []Candidate) {
	if !in.Pending.IsZero() {
		out = append(out, Candidate{Kind: Unbooked, Explains: in.Pending.Neg(), TransactionIDs: in.PendingIDs,
			Message: in.messageOfPending()})
	}
	if in.Rest().IsZero() {
		return out
	}
	var waiting []Transaction
	for _, t := range in.Transactions {
		if !t.Booked && slices.Contains(in.PendingIDs, t.ID) {
			waiting = append(waiting, t)
		}
	}
	slices.SortStableFunc(waiting, func(a, b Transaction) int { return a.At.Compare(b.At) })
	wanted := in.Difference.Neg()
	if found := runOf(waiting, wanted); found != nil && len(found) < int(in.Waiting) {
		out = append(out, Candidate{Kind: Unbooked, Explains: in.Difference, TransactionIDs: idsOf(found),
			Message: messageOfRun(in.AssetType, found)})
	}
	return out
}

// runOf returns the shortest run of transactions in a row that add up to an amount, the latest of several.
func runOf(all []Transaction, wanted money.Decimal) (best []Transaction) {
	before := map[string]int{"0": 0} // sum of the first n, and the latest such n
	sum := money.Decimal{}
	for n, t := range all {
		sum = sum.Add(t.Quantity)
		if start, there := before[sum.Sub(wanted).String()]; there && (best == nil || n+1-start <= len(best)) {
			best = all[start : n+1]
		}
		before[sum.String()] = n + 1
	}
	return best
}

func idsOf(all []Transaction) []string {
	out := make([]string, len(all))
	for n, t := range all {
		out[n] = t.ID
	}
	return out
}

func missing(asset string, s Step) Candidate {
	return Candidate{Kind: Missing, Explains: s.Amount, TransactionIDs: []string{}, Step: s, Message: messageOfMissing(asset, s)}
}

// explainStep returns what single transactions of a step explain of an amount, the latest first. With booked, only what is booked counts.
func (in Input) explainStep(s Step, amount money.Decimal, booked bool) (out []Candidate) {
	equal := map[string][]int{}
	for n, t := range in.Transactions {
		equal[t.Quantity.String()] = append(equal[t.Quantity.String()], n)
	}
	for n, t := range in.Transactions {
		if !t.At.After(s.After) && !s.After.IsZero() || t.At.After(s.Until) || booked && !t.Booked {
			continue
		}
		if twins := in.twinsOf(n, equal[t.Quantity.String()], booked); len(twins) > 0 {
			if extra := superfluous(t.Quantity, amount, len(twins)); extra > 0 {
				out = append(out, Candidate{Kind: Duplicate, Explains: amount, Step: s,
					TransactionIDs: idsOf(append([]Transaction{t}, twins...)), Message: messageOfDuplicate(t, twins, extra)})
			}
		}
		if how := feeFault(t, amount); how != "" {
			out = append(out, Candidate{Kind: WrongFee, Explains: amount, Step: s, TransactionIDs: []string{t.ID},
				Message: messageOfFee(in.AssetType, t, how)})
		}
		if !t.Quantity.IsZero() && t.Quantity.Add(t.Quantity).Equal(amount) {
			out = append(out, Candidate{Kind: WrongSign, Explains: amount, Step: s, TransactionIDs: []string{t.ID},
				Message: messageOfSign(in.AssetType, t)})
		}
	}
	return out
}

// twinsOf returns the transactions that look the same as one of them and are earlier; equal are those with its quantity.
func (in Input) twinsOf(n int, equal []int, booked bool) (out []Transaction) {
	t := in.Transactions[n]
	if t.Quantity.IsZero() {
		return nil
	}
	for _, m := range equal {
		o := in.Transactions[m]
		near := o.At.Sub(t.At).Abs() <= twinsWithin
		earlier := o.At.Before(t.At) || o.At.Equal(t.At) && m > n
		if m != n && near && earlier && (!booked || o.Booked) {
			out = append(out, o)
		}
	}
	return out
}

// superfluous returns how many of several equal transactions have to go so that an amount is explained; 0 if none do.
func superfluous(quantity, amount money.Decimal, twins int) int {
	sum := money.Decimal{}
	for n := 1; n <= twins; n++ {
		if sum = sum.Add(quantity); sum.Equal(amount) {
			return n
		}
	}
	return 0
}

// The ways in which a fee may be wrong.
const (
	feeTwice    = "twice"     // it is as high again as it was
	feeTooMuch  = "too much"  // it is taken although it is not to be
	feeNotTaken = "not taken" // it is not taken although it was paid
)

func feeFault(t Transaction, amount money.Decimal) string {
	switch fee := t.Fee; {
	case fee.Sign() <= 0:
		return ""
	case amount.Equal(fee.Neg()):
		return feeTooMuch
	case amount.Equal(fee):
		return feeNotTaken
	case amount.Add(amount).Equal(fee.Neg()):
		return feeTwice
	}
	return ""
}
