package plaid

import (
	"cmp"
	"context"
	"errors"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// decimal is an amount, which Plaid writes as a number.
type decimal struct{ money.Decimal }

// UnmarshalJSON accepts a number without an exponent.
func (d *decimal) UnmarshalJSON(data []byte) (err error) {
	d.Decimal, err = money.Parse(string(data))
	return err
}

// account is an account of an item.
type account struct {
	ID           string  `json:"account_id"`
	Name         string  `json:"name"`
	OfficialName string  `json:"official_name"`
	Mask         string  `json:"mask"`
	Type         string  `json:"type"`
	Balances     balance `json:"balances"`
}

// balance is what an account holds, or what is owed on it.
type balance struct {
	Current *decimal `json:"current"`
	codes
}

// codes are the currency of an amount: one of the two is set.
type codes struct {
	ISO        string `json:"iso_currency_code"`
	Unofficial string `json:"unofficial_currency_code"`
}

func (c codes) symbol() string { return provider.Symbol(cmp.Or(c.ISO, c.Unofficial)) }

// kinds are the types of accounts that are read.
var kinds = map[string]provider.PartKind{"depository": provider.BankAccount, "credit": provider.CardAccount}

// left are the types of accounts that are not read. Plaid has no transactions for them, or none that a bank account could have.
var left = map[string]bool{"investment": true, "brokerage": true, "loan": true, "other": true}

// getAccounts returns the accounts of an item that are read, with the balances of Plaid's last update.
func getAccounts(ctx context.Context, s *provider.Session) ([]account, error) {
	var out struct {
		Accounts *[]account `json:"accounts"`
	}
	if err := callItem(ctx, s, "/accounts/get", nil, &out); err != nil {
		return nil, err
	}
	if out.Accounts == nil {
		return nil, provider.Nonsense(title, errors.New("the answer has no accounts"))
	}
	var read []account
	for _, a := range *out.Accounts {
		if a.ID != "" && kinds[a.Type] != "" {
			read = append(read, a)
		}
	}
	return read, nil
}

// Parts returns the bank accounts and the cards.
func (Connector) Parts(ctx context.Context, s *provider.Session) ([]provider.Part, error) {
	accounts, err := getAccounts(ctx, s)
	if err != nil {
		return nil, err
	}
	parts := make([]provider.Part, 0, len(accounts))
	for _, a := range accounts {
		parts = append(parts, provider.Part{ID: a.ID, Name: provider.Clean(cmp.Or(a.Name, a.OfficialName)), Kind: kinds[a.Type],
			Currency: a.Balances.symbol(), Last4: provider.Clean(a.Mask)})
	}
	return parts, nil
}

// Balances returns what the accounts hold. What is owed on a card is below zero.
func (Connector) Balances(ctx context.Context, s *provider.Session) (out provider.Holdings, err error) {
	accounts, err := getAccounts(ctx, s)
	if err != nil {
		return out, err
	}
	for _, a := range accounts {
		symbol := a.Balances.symbol()
		if a.Balances.Current == nil || symbol == "" {
			continue // Plaid does not know it
		}
		amount := a.Balances.Current.Decimal
		if kinds[a.Type] == provider.CardAccount {
			amount = amount.Neg()
		}
		out.Balances = append(out.Balances, provider.Balance{Currency: symbol, Amount: amount, Part: a.ID})
	}
	return out, nil
}
