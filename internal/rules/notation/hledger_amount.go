package notation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// amount is a number with its currency, as written.
type amount struct {
	number   money.Decimal
	currency string
	places   int
}

var errLot = errors.New("lots in {} and [] cannot be imported; write the cost with @@, or run \"hledger -f FILE print -x\", " +
	"which leaves lots out, and import what it prints")

// amounts reads what follows the account: amount, cost and balance assertion, all optional.
func (h *hledgerReader) amounts(l *leg, text string, escaped bool) error {
	if text == "" {
		l.elided = true
		return nil
	}
	if text[0] == '=' {
		return fmt.Errorf("a balance instead of an amount cannot be imported; %s", expand)
	}
	a, rest, err := h.amount(text, escaped)
	if err != nil {
		return err
	}
	if a.currency == "" && !a.number.IsZero() {
		return fmt.Errorf("the amount %s has no currency; write one, or put a line such as \"D 1000.00 USD\" above", a.number)
	}
	l.Debit, l.Amount, l.Currency, l.places = a.number.Sign() > 0, a.number.Abs(), a.currency, a.places
	l.zero = a.number.IsZero()
	if rest, err = h.cost(l, rest, escaped); err != nil {
		return err
	}
	if strings.HasPrefix(rest, "=") {
		rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest[1:], "="), "*"), " \t")
		if _, rest, err = h.amount(rest, escaped); err != nil {
			return fmt.Errorf("the balance assertion cannot be read: %w", err)
		}
		if rest, err = h.cost(&leg{}, rest, escaped); err != nil {
			return err
		}
	}
	if rest != "" {
		return fmt.Errorf("%q after the amount cannot be read; put a semicolon before it if it is a comment", short(rest))
	}
	return nil
}

// cost reads a unit price or a total price.
func (h *hledgerReader) cost(l *leg, text string, escaped bool) (rest string, err error) {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return "", errLot
	}
	for _, mark := range []string{"(@@)", "(@)", "@@", "@"} {
		after, ok := strings.CutPrefix(text, mark)
		if !ok {
			continue
		}
		price, rest, err := h.amount(strings.TrimLeft(after, " \t"), escaped)
		if err != nil {
			return "", fmt.Errorf("the cost cannot be read: %w", err)
		}
		if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
			return "", errLot
		}
		return rest, l.setCost(price, strings.Contains(mark, "@@"))
	}
	return text, nil
}

// setCost sets the base amount of a leg.
func (l *leg) setCost(price amount, total bool) error {
	if price.number.Sign() < 0 {
		return fmt.Errorf("the cost %s is below zero; the sign belongs to the amount", price.number)
	}
	base := price.number
	if !total {
		base = base.Mul(l.Amount).Round(money.DigitsAfterMax)
		if err := validateDigits(base); err != nil {
			return err
		}
	}
	switch {
	case price.currency == "" && !base.IsZero():
		return fmt.Errorf("the cost %s has no currency; write one", price.number)
	case price.currency == "":
		l.costFree = true
	case price.currency == l.Currency && base.Equal(l.Amount):
		return nil
	case price.currency == l.Currency:
		return fmt.Errorf("the cost is in %s like the amount; write it in another currency", l.Currency)
	}
	l.Base, l.BaseCurrency, l.unit, l.costPlaces = &base, price.currency, !total, price.places
	return nil
}

// amount reads a number with its currency on either side, and returns the remaining text without leading space.
func (h *hledgerReader) amount(s string, escaped bool) (amount, string, error) {
	negative, rest := cutSign(s)
	symbol, rest, err := cutSymbol(rest)
	if err != nil {
		return amount{}, "", err
	}
	if symbol != "" {
		var again bool
		again, rest = cutSign(strings.TrimLeft(rest, " \t"))
		negative = negative != again
	}
	number, rest := cutNumber(rest)
	if number == "" {
		return amount{}, "", fmt.Errorf("%q is not an amount; write one such as 1200.50 USD", short(s))
	}
	exponent, rest, err := cutExponent(rest)
	if err != nil {
		return amount{}, "", err
	}
	rest = strings.TrimLeft(rest, " \t")
	if symbol == "" {
		if symbol, rest, err = cutSymbol(rest); err != nil {
			return amount{}, "", err
		}
		rest = strings.TrimLeft(rest, " \t")
	}
	a := amount{currency: decoded(symbol, escaped)}
	switch {
	case symbol == "":
		a.currency = h.unnamed
	case a.currency == "":
		return amount{}, "", fmt.Errorf("the currency %q has no character; write one", short(symbol))
	}
	mark := h.decimal
	if mark == 0 {
		mark = h.marks[a.currency]
	}
	if a.number, a.places, err = parseNumber(number, mark, exponent); err != nil {
		return amount{}, "", err
	}
	if negative {
		a.number = a.number.Neg()
	}
	return a, rest, nil
}

func cutSign(s string) (negative bool, rest string) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[0] == '-', strings.TrimLeft(s[1:], " \t")
	}
	return false, s
}

// cutSymbol splits a currency off the start of a text, if there is one.
func cutSymbol(s string) (symbol, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s[1:], '"')
		if end <= 0 {
			return "", "", fmt.Errorf("the currency %s has no closing quote; add one", short(s))
		}
		return s[1 : 1+end], s[end+2:], nil
	}
	end := strings.IndexAny(s, "0123456789-+.@*;\t\n \"{}=")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], nil
}
