package classify

import "strings"

// Text describes the conditions of a rule for people.
func (r Rule) Text() string {
	var parts []string
	say := func(what, value string) {
		if value != "" {
			parts = append(parts, what+" \""+value+"\"")
		}
	}
	say("the address is", r.Address)
	say("the merchant is", r.Merchant)
	say("a memo or payee contains", r.MemoContains)
	say("the category is", r.Category)
	say("the asset is", r.Asset)
	switch r.Direction {
	case Deposit:
		parts = append(parts, "it came in")
	case Withdrawal:
		parts = append(parts, "it went out")
	}
	return strings.Join(parts, ", ")
}
