package brex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// cardPart is the id of the part that stands for all card accounts of a company.
const cardPart = "card"

// amount is an amount of money, in the smallest unit of its currency.
type amount struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
}

var (
	errAmount   = errors.New("it does not state its amount")
	errCurrency = errors.New("the smallest unit of its currency is not known")
)

// units are the smallest units of currencies, by their digits after the point.
var units = []money.Decimal{money.FromInt(1), money.MustParse("0.1"), money.MustParse("0.01"), money.MustParse("0.001"),
	money.MustParse("0.0001")}

// decimal returns an amount and its currency. Without a currency, it is in US dollars.
func (a *amount) decimal() (money.Decimal, string, error) {
	if a == nil || a.Amount == "" || strings.Contains(a.Amount.String(), ".") {
		return money.Decimal{}, "", errAmount
	}
	whole, err := money.Parse(a.Amount.String())
	if err != nil {
		return money.Decimal{}, "", errAmount
	}
	currency := cmp.Or(strings.ToUpper(a.Currency), "USD")
	places, known := money.MinorUnits(currency)
	if !known || int(places) >= len(units) {
		return money.Decimal{}, "", errCurrency
	}
	return whole.Mul(units[places]), currency, nil
}

// account is a card account or a cash account.
type account struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Number  string  `json:"account_number"`
	Primary bool    `json:"primary"`
	Current *amount `json:"current_balance"`
}

// last4 returns the end of the account number.
func (a account) last4() string {
	if n := len(a.Number); n >= 4 {
		return provider.Clean(a.Number[n-4:])
	}
	return ""
}

// currency returns the currency of an account, US dollars if it is not stated.
func (a account) currency() string {
	if _, currency, err := a.Current.decimal(); err == nil {
		return currency
	}
	return "USD"
}

func cardAccounts(ctx context.Context, s *provider.Session) ([]account, error) {
	var out []account
	err := get(ctx, s, "/v2/accounts/card", nil, &out)
	if err == nil && out == nil {
		err = provider.Nonsense(title, errPage)
	}
	return out, refused(err)
}

// accountPagesMax bounds how many pages of accounts are read.
const accountPagesMax = 10

// cashAccounts returns the cash accounts, in the order of their ids.
func cashAccounts(ctx context.Context, s *provider.Session) ([]account, error) {
	var all []account
	query := url.Values{}
	for range accountPagesMax {
		var out struct {
			Items *[]account `json:"items"`
			Next  string     `json:"next_cursor"`
		}
		if err := get(ctx, s, "/v2/accounts/cash", query, &out); err != nil {
			return nil, refused(err)
		}
		if out.Items == nil {
			return nil, provider.Nonsense(title, errPage)
		}
		all = append(all, *out.Items...)
		if out.Next == "" {
			break
		}
		query.Set("cursor", out.Next)
	}
	all = slices.DeleteFunc(all, func(a account) bool { return a.ID == "" })
	slices.SortFunc(all, func(a, b account) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b account) bool { return a.ID == b.ID }), nil
}

// Parts returns the cards as one account, and each cash account.
func (Connector) Parts(ctx context.Context, s *provider.Session) ([]provider.Part, error) {
	cards, err := cardAccounts(ctx, s)
	if err != nil {
		return nil, err
	}
	cash, err := cashAccounts(ctx, s)
	if err != nil {
		return nil, err
	}
	var parts []provider.Part
	if len(cards) > 0 {
		parts = append(parts, provider.Part{ID: cardPart, Name: "Brex cards", Kind: provider.CardAccount, Currency: cards[0].currency()})
	}
	for _, a := range cash {
		parts = append(parts, provider.Part{ID: a.ID, Name: cmp.Or(provider.Clean(a.Name), "Brex cash"), Kind: provider.BankAccount,
			Currency: a.currency(), Last4: a.last4()})
	}
	return parts, nil
}

// Balances returns what the cash accounts hold, and below zero what is owed on the cards. It leaves out a cash account whose balance is not
// stated, and all cards if that of one is not: what is owed on them together is not known then.
func (Connector) Balances(ctx context.Context, s *provider.Session) (out provider.Holdings, err error) {
	cards, err := cardAccounts(ctx, s)
	if err != nil {
		return out, err
	}
	cash, err := cashAccounts(ctx, s)
	if err != nil {
		return out, err
	}
	out.Balances = owed(cards)
	for _, a := range cash {
		if current, currency, err := a.Current.decimal(); err == nil {
			out.Balances = append(out.Balances, provider.Balance{Currency: currency, Amount: current, Part: a.ID})
		}
	}
	return out, nil
}

// owed returns what is owed on card accounts in each currency, and nothing if one does not state it.
func owed(cards []account) (out []provider.Balance) {
	for _, a := range cards {
		current, currency, err := a.Current.decimal()
		if err != nil {
			return nil
		}
		at := slices.IndexFunc(out, func(b provider.Balance) bool { return b.Currency == currency })
		if at < 0 {
			at, out = len(out), append(out, provider.Balance{Currency: currency, Part: cardPart})
		}
		out[at].Amount = out[at].Amount.Sub(current)
	}
	return out
}
