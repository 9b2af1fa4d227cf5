package plaid

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// transaction is a transaction of an account.
type transaction struct {
	ID      string `json:"transaction_id"`
	Account string `json:"account_id"`
	codes
	Amount      *decimal `json:"amount"` // above zero for money that leaves the account
	Date        string   `json:"date"`   // on which it was posted
	Pending     *bool    `json:"pending"`
	Name        string   `json:"name"`
	Original    string   `json:"original_description"`
	Merchant    string   `json:"merchant_name"`
	Owner       string   `json:"account_owner"`
	Check       string   `json:"check_number"`
	Code        string   `json:"transaction_code"` // of European banks only
	Categories  []string `json:"category"`
	Category    category `json:"personal_finance_category"`
	PaymentMeta payment  `json:"payment_meta"`
}

// category is what Plaid takes the purpose of a transaction to be.
type category struct {
	Primary  string `json:"primary"`
	Detailed string `json:"detailed"`
}

// payment is what is known about a transfer between banks.
type payment struct {
	Payee  string `json:"payee"`
	Payer  string `json:"payer"`
	Reason string `json:"reason"`
}

// Why a transaction is left out.
var (
	errID      = errors.New("it has no id")
	errForm    = errors.New("it is not in the form of Plaid's transactions")
	errPending = errors.New("it does not say whether it is posted")
	errDate    = errors.New("it has no date")
	errAmount  = errors.New("it does not state its amount")
	errAsset   = errors.New("it does not state its currency")
	errAccount = errors.New("it does not say which account it belongs to")
)

// parse returns the records of a transaction, or why it is left out. One that is pending or of an account that is not read has none.
func (c *changes) parse(original json.RawMessage) ([]provider.Record, error) {
	var t transaction
	if json.Unmarshal(original, &t) != nil {
		return nil, errForm
	}
	at, err := time.Parse(time.DateOnly, t.Date)
	switch {
	case t.Pending == nil:
		return nil, errPending
	case *t.Pending:
		return nil, nil
	case t.Account == "":
		return nil, errAccount
	case left[c.accounts[t.Account].Type]:
		return nil, nil
	case err != nil:
		return nil, errDate
	case t.Amount == nil:
		return nil, errAmount
	case t.symbol() == "":
		return nil, errAsset
	}
	amount := t.Amount.Neg()
	legs, _ := intake.Movement(t.record(at, c.accounts[t.Account], amount), amount, money.Decimal{})
	out := make([]provider.Record, 0, len(legs))
	for _, leg := range legs {
		out = append(out, provider.Record{Record: leg, Part: t.Account, Original: original})
	}
	return out, nil
}

// record returns what a record says besides the quantity.
func (t transaction) record(at time.Time, of account, amount money.Decimal) intake.Record {
	merchant, last4 := provider.Clean(t.Merchant), provider.Clean(of.Mask)
	kind := provider.Clean(cmp.Or(t.Category.Detailed, t.Category.Primary, strings.Join(t.Categories, ", "), t.Code, "uncategorized"))
	other := t.PaymentMeta.Payee
	if amount.Sign() > 0 {
		other = t.PaymentMeta.Payer
	}
	r := intake.Record{ExternalID: t.ID, Timestamp: at, Currency: t.symbol(), ProviderCategory: kind,
		Description: provider.Clean(cmp.Or(t.Original, t.Name, t.Merchant)), Vendor: merchant, Memo: provider.Clean(t.PaymentMeta.Reason),
		Bank: &intake.Bank{AccountLast4: last4, CounterpartyName: cmp.Or(provider.Clean(other), merchant)}}
	if r.Memo == "" && t.Check != "" {
		r.Memo = "Check " + provider.Clean(t.Check)
	}
	switch {
	case t.Code == "bank charge" && amount.Sign() < 0:
		r.Type = "FEE"
	case t.Code == "interest" && amount.Sign() > 0:
		r.Type = "INCOME"
	}
	if kinds[of.Type] == provider.CardAccount {
		r.Card = &intake.Card{MerchantName: merchant, CardholderName: provider.Clean(t.Owner), Last4: last4}
		if merchant != "" {
			r.Card.MerchantCategory = kind
		}
	}
	return r
}
