package glsync

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
)

// Suggestion is an account of a general ledger that may stand for a ledger account.
type Suggestion struct {
	Account    Account
	Confidence money.Decimal // from 0 to 1
	Reasons    []string
	Certain    bool // nothing else comes close, so that it can be accepted without a look
}

// suggestionsMax is how many suggestions are shown for an account.
const suggestionsMax = 3

// How much speaks for a suggestion.
var (
	sameCodeAndName = money.MustParse("1")
	sameNameNoCode  = money.MustParse("0.95") // one of the two has no code
	sameName        = money.MustParse("0.7")
	sameCode        = money.MustParse("0.6")
	unknownType     = money.MustParse("0.1") // less, if the general ledger does not tell the type
	certainMin      = money.MustParse("0.9")
)

// finder finds suggestions among the accounts of a general ledger.
type finder struct {
	byCode, byName map[string][]Account
}

// normal returns a text in the form in which texts are compared.
func normal(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

func newFinder(all []Account) finder {
	f := finder{map[string][]Account{}, map[string][]Account{}}
	for _, a := range all {
		if a.Unusable() != "" {
			continue
		}
		if a.Code != "" {
			f.byCode[normal(a.Code)] = append(f.byCode[normal(a.Code)], a)
		}
		f.byName[normal(a.Name)] = append(f.byName[normal(a.Name)], a)
	}
	return f
}

// suggest returns the accounts that may stand for a ledger account, the most likely first.
func (f finder) suggest(a account.Account) (out []Suggestion) {
	candidates := slices.Clone(f.byName[normal(a.Name)])
	if a.Code != "" {
		candidates = append(candidates, f.byCode[normal(a.Code)]...)
	}
	slices.SortFunc(candidates, func(x, y Account) int { return strings.Compare(x.ID, y.ID) })
	for _, c := range slices.CompactFunc(candidates, func(x, y Account) bool { return x.ID == y.ID }) {
		if c.Type == "" || c.Type == string(a.Type) {
			out = append(out, weigh(a, c))
		}
	}
	slices.SortStableFunc(out, func(x, y Suggestion) int {
		return cmp.Or(y.Confidence.Cmp(x.Confidence), strings.Compare(x.Account.ID, y.Account.ID))
	})
	if len(out) > 0 {
		out[0].Certain = out[0].Confidence.Cmp(certainMin) >= 0 && (len(out) == 1 || out[1].Confidence.Cmp(certainMin) < 0)
	}
	return out[:min(len(out), suggestionsMax)]
}

// weigh says how much speaks for an account that has the code or the name of a ledger account.
func weigh(a account.Account, c Account) Suggestion {
	s := Suggestion{Account: c}
	byCode, byName := a.Code != "" && normal(a.Code) == normal(c.Code), normal(a.Name) == normal(c.Name)
	switch {
	case byCode && byName:
		s.Confidence = sameCodeAndName
	case byName && (a.Code == "" || c.Code == ""):
		s.Confidence = sameNameNoCode
	case byName:
		s.Confidence = sameName
	default:
		s.Confidence = sameCode
	}
	if byCode {
		s.Reasons = append(s.Reasons, "same code")
	}
	if byName {
		s.Reasons = append(s.Reasons, "same name")
	}
	if c.Type == "" {
		s.Confidence = s.Confidence.Sub(unknownType)
	} else {
		s.Reasons = append(s.Reasons, "same type")
	}
	return s
}
