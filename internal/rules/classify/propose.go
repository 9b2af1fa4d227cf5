package classify

import (
	"cmp"
	"slices"
	"time"
)

// Precedent is a posted booking of a transaction.
type Precedent struct {
	TransactionID   string
	LedgerAccountID string
	TransactionType string
	At              time.Time
}

// Proposal suggests how to book a transaction, based on precedents.
type Proposal struct {
	LedgerAccountID, TransactionType string

	Confidence int       // in percent, from ConfidenceMin to ConfidenceMax
	Reasons    []string  // sentences, the weightiest first
	Examples   []string  // ids of transactions that were booked this way, the latest first
	Features   []Feature // that the transaction shares with them
}

// The limits of proposals.
const (
	ConfidenceMin = 30 // proposals below are dropped
	ConfidenceMax = 99 // only a rule is certain
	PrecedentsMax = 50 // how many of the latest are used per feature: current practice matters more than old practice

	examplesMax = 5
)

// whole is full confidence, in basis points.
const whole = 10_000

// Weights of additional evidence.
const (
	repeats     = 3 // evidence that agrees removes a third of the doubt that it would remove alone
	contradicts = 4 // evidence that disagrees costs a quarter of its weight
)

// BookingHistory counts how transactions with a feature were booked.
type BookingHistory struct {
	total    int
	outcomes []outcome
}

// outcome is an account and transaction type, and the precedents booked to them.
type outcome struct {
	account, kind string

	votes  int
	latest []Precedent // at most examplesMax, the latest first
}

// NewBookingHistory counts the latest PrecedentsMax precedents, which may be in any order.
func NewBookingHistory(past []Precedent) *BookingHistory {
	past = LatestFirst(past)
	h := &BookingHistory{total: len(past)}
	for _, p := range past {
		i := slices.IndexFunc(h.outcomes, func(w outcome) bool { return w.account == p.LedgerAccountID && w.kind == p.TransactionType })
		if i < 0 {
			i = len(h.outcomes)
			h.outcomes = append(h.outcomes, outcome{account: p.LedgerAccountID, kind: p.TransactionType})
		}
		w := &h.outcomes[i]
		if w.votes++; len(w.latest) < examplesMax {
			w.latest = append(w.latest, p)
		}
	}
	return h
}

// LatestFirst returns the latest PrecedentsMax precedents that name an account, without duplicates.
func LatestFirst(past []Precedent) []Precedent {
	out := slices.DeleteFunc(slices.Clone(past), func(p Precedent) bool { return p.LedgerAccountID == "" })
	slices.SortFunc(out, Precedent.compare)
	out = slices.CompactFunc(out, Precedent.equal)
	return out[:min(len(out), PrecedentsMax)]
}

func (p Precedent) equal(o Precedent) bool {
	return p.TransactionID == o.TransactionID && p.LedgerAccountID == o.LedgerAccountID && p.TransactionType == o.TransactionType
}

// compare orders the latest first.
func (p Precedent) compare(o Precedent) int {
	return cmp.Or(o.At.Compare(p.At), cmp.Compare(p.TransactionID, o.TransactionID), cmp.Compare(p.LedgerAccountID, o.LedgerAccountID),
		cmp.Compare(p.TransactionType, o.TransactionType))
}

// evidence is the booking history of one feature. An outcome weighs votes/(total+doubt) of its strength, so that many
// examples that agree weigh most.
type evidence struct {
	*BookingHistory
	feature  Feature
	strength int
	doubt    int
	strong   bool // one example is enough
}

// candidate is a possible proposal with the precedents that support it.
type candidate struct {
	account, kind string

	past  []Precedent // the latest first
	votes []int       // by evidence
	score int
}

// Propose returns a proposal for a transaction, or nil if the precedents that share its features are too few or disagree.
// The function history returns the booking history of a feature, or nil. All arithmetic is on integers, so that the same
// precedents always give the same proposal.
func Propose(s Subject, history func(Feature) *BookingHistory) *Proposal {
	all := collectEvidence(s, history)
	var best *candidate
	for _, a := range candidatesFrom(all) {
		if a.computeScore(all); best == nil || a.ranksBefore(best) {
			best = a
		}
	}
	if best == nil || best.score < ConfidenceMin*whole/100 {
		return nil
	}
	p := &Proposal{LedgerAccountID: best.account, TransactionType: best.kind, Confidence: min(best.score*100/whole, ConfidenceMax),
		Reasons: best.reasons(s, all)}
	for i, e := range all {
		if best.votes[i] > 0 {
			p.Features = append(p.Features, e.feature)
		}
	}
	for _, e := range best.past[:min(len(best.past), examplesMax)] {
		p.Examples = append(p.Examples, e.TransactionID)
	}
	return p
}

// collectEvidence returns the evidence on a transaction.
func collectEvidence(s Subject, history func(Feature) *BookingHistory) (all []evidence) {
	for _, f := range Features(s) {
		e := evidence{feature: f, BookingHistory: history(f)}
		if e.BookingHistory == nil || e.total == 0 {
			continue
		}
		switch f.Kind {
		case KindAddress:
			e.strength, e.doubt, e.strong = 95, 1, true
		case KindPayee:
			e.strength, e.doubt, e.strong = 92, 1, true
		case KindText:
			e.strength, e.doubt = 75, 2
		case KindCategory:
			e.strength, e.doubt = 50, 2
		case KindStanding:
			e.strength, e.doubt, e.strong = 97, 1, true
		}
		all = append(all, e)
	}
	return all
}

// candidatesFrom returns the outcomes found in the evidence.
func candidatesFrom(all []evidence) (out []*candidate) {
	for i, e := range all {
		for _, w := range e.outcomes {
			n := slices.IndexFunc(out, func(a *candidate) bool { return a.account == w.account && a.kind == w.kind })
			if n < 0 {
				n = len(out)
				out = append(out, &candidate{account: w.account, kind: w.kind, votes: make([]int, len(all))})
			}
			out[n].votes[i] = w.votes
			out[n].past = append(out[n].past, w.latest...)
		}
	}
	for _, a := range out {
		slices.SortFunc(a.past, Precedent.compare)
		a.past = slices.CompactFunc(a.past, Precedent.equal)
	}
	return out
}

// ranksBefore reports whether a ranks before b: the higher score, then the later precedent.
func (a *candidate) ranksBefore(b *candidate) bool {
	x, y := a.past[0], b.past[0]
	return cmp.Or(cmp.Compare(a.score, b.score), x.At.Compare(y.At), cmp.Compare(y.TransactionID, x.TransactionID),
		cmp.Compare(b.account, a.account), cmp.Compare(b.kind, a.kind)) > 0
}

// computeScore computes the score. Another precedent that agrees never lowers it: every step rises with the votes for the
// candidate and falls with those for others.
func (a *candidate) computeScore(all []evidence) {
	strong, most, against := false, 0, 0
	for i, e := range all {
		strong = strong || e.strong && a.votes[i] > 0
		most = max(most, a.votes[i])
		against = max(against, e.weight(e.total-a.votes[i]))
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
	a.score = min(a.score, whole*most/(most+1)) // one example counts once, however many features it shares
	a.score = a.score * (whole - against/contradicts) / whole
}

// weight returns the weight of a number of votes, in parts of whole.
func (e evidence) weight(votes int) int {
	return e.strength * votes * (whole / 100) / (e.total + e.doubt)
}
