package brex

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// transaction is a transaction of a card or of a cash account.
type transaction struct {
	ID          string  `json:"id"`
	Description string  `json:"description"`
	Amount      *amount `json:"amount"`
	Posted      string  `json:"posted_at_date"`
	Type        string  `json:"type"`
	Merchant    *struct {
		Name     string `json:"raw_descriptor"`
		Category string `json:"mcc"`
	} `json:"merchant"`

	at       time.Time
	moved    money.Decimal
	currency string
}

// Why a transaction is left out.
var (
	errForm = errors.New("it is not in the form of Brex's transactions")
	errID   = errors.New("it has no id")
	errDate = errors.New("it has no date on which it was posted")
)

// parse reads a transaction, or says why it is left out.
func parse(original json.RawMessage) (t transaction, err error) {
	if json.Unmarshal(original, &t) != nil {
		var named struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(original, &named) // the id of what is left out is for people only
		return transaction{ID: named.ID}, errForm
	}
	if t.ID == "" {
		return t, errID
	}
	if t.at, err = time.Parse(time.DateOnly, t.Posted); err != nil {
		return t, errDate
	}
	t.moved, t.currency, err = t.Amount.decimal()
	return t, err
}

// direction is which way money moves in a type of transactions.
type direction int

const (
	either direction = iota
	in
	out
)

// kind is what a type of transactions means if money moves in a direction.
type kind struct {
	tag  string // one of intake.Types
	when direction
}

// kinds are the types that leave no doubt about what happened. Others are for a person to decide.
var kinds = map[string]kind{
	"REFUND": {"REFUND", in}, "CHARGEBACK": {"CHARGEBACK", in}, "COLLECTION": {"INTERNAL TRANSFER", either}, "BNPL_FEE": {"FEE", out},
	"FEE": {"FEE", out}, "INTEREST": {"INCOME", in}, "DIVIDEND": {"INCOME", in}, "CARD_COLLECTION": {"INTERNAL TRANSFER", either},
	"INTRA_CUSTOMER_ACCOUNT_BOOK_TRANSFER": {"INTERNAL TRANSFER", either},
}

// records returns the records of a transaction, none if nothing moved.
func (t transaction) records(a account, original json.RawMessage) []provider.Record {
	moved := t.moved
	if a.ID == cardPart {
		moved = moved.Neg() // a purchase is stated above zero
	}
	r := intake.Record{ExternalID: t.ID, Timestamp: t.at, Currency: t.currency, Description: provider.Clean(t.Description),
		ProviderCategory: cmp.Or(provider.Clean(t.Type), "unspecified")}
	towards := in
	if moved.Sign() < 0 {
		towards = out
	}
	if k, known := kinds[t.Type]; known && (k.when == either || k.when == towards) {
		r.Type = k.tag
	}
	if t.Merchant != nil {
		r.Vendor = provider.Clean(t.Merchant.Name)
	}
	if a.ID == cardPart {
		r.Card = &intake.Card{MerchantName: r.Vendor}
		if t.Merchant != nil {
			r.Card.MerchantCategory = provider.Clean(t.Merchant.Category)
		}
	} else {
		r.Bank = &intake.Bank{BankName: title, AccountLast4: a.last4()}
	}
	legs, _ := intake.Movement(r, moved, money.Decimal{})
	records := make([]provider.Record, 0, len(legs))
	for _, leg := range legs {
		records = append(records, provider.Record{Record: leg, Part: a.ID, Original: original})
	}
	return records
}
