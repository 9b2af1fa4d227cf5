package classify

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Precedent is a transaction as it was booked.
type Precedent struct {
	TransactionID, EntryID           string
	Subject                          Subject
	LedgerAccountID, TransactionType string
	At                               time.Time
}

// Proposal is how a transaction would be booked if it were booked as those before it were.
type Proposal struct {
	LedgerAccountID, TransactionType string

	Confidence int       // in percent, from ConfidenceMin to ConfidenceMax
	Reasons    []string  // sentences, the weightiest first
	Examples   []string  // ids of transactions that were booked so, the latest first
	Features   []Feature // that the transaction has in common with those
}

// The limits of proposals.
const (
	ConfidenceMin = 30 // what is less sure is not proposed
	ConfidenceMax = 99 // only a rule is certain
	PrecedentsMax = 50 // the latest that count for each feature: how it is done now matters more than how it was done

	examplesMax = 5
)

// whole is all the confidence there is, in parts that are finer than percents.
const whole = 10_000

// How much what has been said already weighs.
const (
	repeats     = 3 // what another evidence says too takes away a third of the doubt that it would take away alone
	contradicts = 4 // what another evidence says otherwise costs a quarter of its weight
)

// evidence is what one feature, or two together, say about how to book. It weighs votes/(all+doubt) of its strength: many examples that agree
// weigh most.
type evidence struct {
	features []Feature
	strength int
	doubt    int
	strong   bool // one example is enough

	past []*Precedent // that have the features, the latest first
}

// answer is a way to book, with all that speaks for it.
type answer struct {
	account, kind string

	past  []*Precedent // the latest first
	votes []int        // by evidence
	score int
}

// Propose says how to book a transaction, or nil where the precedents say too little. They may come in any order and should be the latest
// PrecedentsMax of each of its features; what does not have the feature is passed over. All is counted in whole numbers, so that the same
// precedents always say the same.
func Propose(s Subject, past []Precedent) *Proposal {
	all := gather(s, past)
	var best *answer
	for _, a := range answers(all) {
		if a.judge(all); best == nil || a.better(best) {
			best = a
		}
	}
	if best == nil || best.score < ConfidenceMin*whole/100 {
		return nil
	}
	p := &Proposal{LedgerAccountID: best.account, TransactionType: best.kind, Confidence: min(best.score*100/whole, ConfidenceMax), Reasons: best.reasons(s, all)}
	for i, e := range all {
		if best.votes[i] > 0 && len(e.features) == 1 {
			p.Features = append(p.Features, e.features[0])
		}
	}
	for _, e := range best.past[:min(len(best.past), examplesMax)] {
		p.Examples = append(p.Examples, e.TransactionID)
	}
	return p
}

// gather is the evidence on a transaction, each with the precedents that it has.
func gather(s Subject, past []Precedent) []*evidence {
	var all []*evidence
	var payee, amount *evidence
	for _, f := range Features(s) {
		e := &evidence{features: []Feature{f}}
		switch f.Kind {
		case KindAddress:
			e.strength, e.doubt, e.strong = 95, 1, true
		case KindPayee:
			e.strength, e.doubt, e.strong = 92, 1, true
			payee = e
		case KindText:
			e.strength, e.doubt = 75, 2
		case KindCategory:
			e.strength, e.doubt = 50, 2
		case KindAmount:
			e.strength, e.doubt = 25, 2 // less than is ever proposed: alone it says nothing
			amount = e
		}
		all = append(all, e)
	}
	if payee != nil && amount != nil { // the rent, a subscription
		all = append(all, &evidence{features: []Feature{payee.features[0], amount.features[0]}, strength: 97, doubt: 1, strong: true})
	}
	ordered := latestFirst(past)
	var buffer []byte
	for _, e := range all {
		for _, p := range ordered {
			if len(e.past) < PrecedentsMax && e.of(p, &buffer) {
				e.past = append(e.past, p)
			}
		}
	}
	return all
}

// of tells whether a precedent has the features.
func (e *evidence) of(p *Precedent, buffer *[]byte) bool {
	for _, f := range e.features {
		if *buffer = f.Kind.of(&p.Subject, (*buffer)[:0]); !bytes.Equal(*buffer, []byte(f.Value)) {
			return false
		}
	}
	return true
}

// latestFirst is the precedents that name an account, each transaction and way to book it once.
func latestFirst(past []Precedent) []*Precedent {
	out := make([]*Precedent, 0, len(past))
	for i := range past {
		if past[i].LedgerAccountID != "" {
			out = append(out, &past[i])
		}
	}
	slices.SortFunc(out, func(a, b *Precedent) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.LedgerAccountID, b.LedgerAccountID), cmp.Compare(a.TransactionType, b.TransactionType),
			cmp.Compare(a.EntryID, b.EntryID))
	})
	return slices.CompactFunc(out, func(a, b *Precedent) bool {
		return a.TransactionID == b.TransactionID && a.LedgerAccountID == b.LedgerAccountID && a.TransactionType == b.TransactionType
	})
}

// answers are the ways in which what counts was booked.
func answers(all []*evidence) (out []*answer) {
	type way struct{ account, kind string }
	known := map[way]*answer{}
	for i, e := range all {
		for _, p := range e.past {
			w := way{p.LedgerAccountID, p.TransactionType}
			a := known[w]
			if a == nil {
				a = &answer{account: w.account, kind: w.kind, votes: make([]int, len(all))}
				known[w], out = a, append(out, a)
			}
			a.votes[i]++
			if !slices.Contains(a.past, p) {
				a.past = append(a.past, p)
			}
		}
	}
	for _, a := range out {
		slices.SortFunc(a.past, func(x, y *Precedent) int {
			return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.TransactionID, y.TransactionID))
		})
	}
	return out
}

// better tells which of two goes first: what is surer, then what was done last.
func (a *answer) better(b *answer) bool {
	x, y := a.past[0], b.past[0]
	return cmp.Or(cmp.Compare(a.score, b.score), x.At.Compare(y.At), cmp.Compare(y.TransactionID, x.TransactionID), cmp.Compare(b.account, a.account), cmp.Compare(b.kind, a.kind)) > 0
}

// judge computes the score. Another precedent that agrees never lowers it: every step rises with the votes for an answer and falls with those for
// others.
func (a *answer) judge(all []*evidence) {
	strong := false
	most, against := 0, 0
	for i, e := range all {
		strong = strong || e.strong && a.votes[i] > 0
		most = max(most, a.votes[i])
		against = max(against, e.weight(len(e.past)-a.votes[i]))
	}
	if !strong && most == 1 {
		return
	}
	for lead := range all {
		doubt := whole
		for i, e := range all {
			w := e.weight(a.votes[i])
			if i != lead {
				w /= repeats
			}
			doubt = doubt * (whole - w) / whole
		}
		a.score = max(a.score, whole-doubt)
	}
	a.score = min(a.score, whole*most/(most+1)) // one example is one, in however many ways it is alike
	a.score = a.score * (whole - against/contradicts) / whole
}

// weight is how much so many votes are of the whole.
func (e *evidence) weight(votes int) int {
	return e.strength * votes * (whole / 100) / (len(e.past) + e.doubt)
}
