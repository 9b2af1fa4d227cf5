package classify

import (
	"fmt"
	"slices"
	"strings"
)

// reasons returns the reasons for a candidate as sentences, the weightiest first.
func (a *candidate) reasons(s Subject, all []evidence) []string {
	order := make([]int, 0, len(all))
	for i := range all {
		if a.votes[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return all[y].weight(a.votes[y]) - all[x].weight(a.votes[x]) })
	out := make([]string, len(order))
	for n, i := range order {
		out[n] = a.reason(s, all[i], a.votes[i])
	}
	return out
}

func (a *candidate) reason(s Subject, e evidence, votes int) string {
	noun := "payment"
	if s.Inflow {
		noun = "receipt"
	}
	booked := "booked"
	if a.kind != "" {
		booked += " as " + a.kind
	}
	if e.total == 1 {
		return fmt.Sprintf("The only %s%s was %s to the account %s.", noun, e.phrase(s), booked, a.account)
	}
	were := "were"
	if votes == 1 {
		were = "was"
	}
	return fmt.Sprintf("%d of %d %ss%s %s %s to the account %s.", votes, e.total, noun, e.phrase(s), were, booked, a.account)
}

// phrase describes the payments or receipts that the evidence is about.
func (e evidence) phrase(s Subject) string {
	side := "to"
	if s.Inflow {
		side = "from"
	}
	_, value, _ := strings.Cut(e.feature.Value, "/")
	switch e.feature.Kind {
	case KindAddress:
		return fmt.Sprintf(" %s the address %s", side, value)
	case KindText:
		return fmt.Sprintf(" described as %q", value)
	case KindCategory:
		of := ""
		if !blank(s.Asset) {
			of = " of " + strings.TrimSpace(s.Asset)
		}
		return of + fmt.Sprintf(" in the category %q", strings.TrimSpace(s.Category))
	case KindStanding:
		return fmt.Sprintf(" of exactly %s %s %s %q", s.Quantity.Abs(), strings.TrimSpace(s.Asset), side, s.payee(nil))
	}
	return fmt.Sprintf(" %s %q", side, value)
}
