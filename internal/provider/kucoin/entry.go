package kucoin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// entry is an entry of a ledger.
type entry struct {
	ID          provider.Text `json:"id"`
	Currency    string        `json:"currency"`
	Amount      provider.Text `json:"amount"`
	Fee         provider.Text `json:"fee"`
	AccountType string        `json:"accountType"`
	Business    string        `json:"bizType"`
	Direction   string        `json:"direction"`
	Created     provider.Text `json:"createdAt"`
	Context     string        `json:"context"`
}

// row is an entry as KuCoin sent it.
type row struct {
	entry
	at       int64 // in milliseconds, zero if it is not stated
	err      error
	original json.RawMessage
}

var (
	errForm = errors.New("it does not have the form of an entry of KuCoin")
	errID   = errors.New("it has no id")
	// errFutures is said of entries of an account that is not read as a whole.
	errFutures = errors.New("it belongs to the futures account, which is not read")
)

// parse decodes an entry. If it has no id or no time, those of the row are empty.
func parse(original json.RawMessage) row {
	r := row{original: original}
	if json.Unmarshal(original, &r.entry) != nil {
		r.entry, r.err = entry{}, errForm
		return r
	}
	if id := string(r.ID); id == "" || provider.Clean(id) != id {
		r.ID, r.err = "", errID
		return r
	}
	at, err := strconv.ParseInt(string(r.Created), 10, 64)
	if err != nil || at <= 0 {
		r.err = fmt.Errorf("its time %q is no number of milliseconds", provider.Clean(string(r.Created)))
		return r
	}
	r.at = at
	return r
}

// symbol returns the symbol of an asset, and an empty one for what is none.
func symbol(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return text
}

// addTo adds the records of a row to a page.
func (r row) addTo(out *provider.Page, ledger string) {
	records, err := r.records(ledger)
	if err != nil {
		out.Omitted = append(out.Omitted, provider.Omission{ID: string(r.ID), Reason: err.Error(), Original: r.original})
	}
	for _, one := range records {
		out.Records = append(out.Records, provider.Record{Record: one, Original: r.original})
	}
}

// ownLedger are the accounts that have a ledger of their own.
var ownLedger = map[string]bool{"TRADE_HF": true, "MARGIN_V2": true, "ISOLATED_V2": true}

// records returns the records of a row: none if no balance changed, or if it is that of another ledger.
func (r row) records(ledger string) ([]intake.Record, error) {
	kind := strings.ToUpper(r.AccountType)
	switch {
	case r.err != nil:
		return nil, r.err
	case ledger == account && kind == "CONTRACT":
		return nil, errFutures
	case ledger == account && ownLedger[kind]:
		return nil, nil
	}
	out := intake.Record{ExternalID: ledger + ":" + string(r.ID), Timestamp: time.UnixMilli(r.at).UTC(), Currency: symbol(r.Currency),
		ProviderCategory: provider.Clean(r.Business), Description: provider.Clean(r.Business), Memo: provider.Clean(r.AccountType),
		Group: r.group()}
	change, err := provider.ParseAmount(string(r.Amount))
	switch {
	case out.Currency == "":
		return nil, fmt.Errorf("%q is not an asset", provider.Clean(r.Currency))
	case err != nil:
		return nil, fmt.Errorf("the amount %w and is %q", err, provider.Clean(string(r.Amount)))
	case change.Sign() < 0:
		return nil, fmt.Errorf("the amount is %s, although the direction is stated beside it", change)
	case r.Direction == "out":
		change = change.Neg()
	case r.Direction != "in":
		return nil, fmt.Errorf("the direction is %q", provider.Clean(r.Direction))
	}
	out.Type = kindOf(r.Business, change.Sign())
	fee, err := r.fee(change)
	if err != nil {
		return nil, err
	}
	records, _ := intake.Movement(out, change.Add(fee), fee) // the amount includes the fee
	return records, nil
}

// fee returns the fee that the amount of an entry includes.
func (r row) fee(change money.Decimal) (money.Decimal, error) {
	if r.Fee == "" {
		return money.Decimal{}, nil
	}
	fee, err := provider.ParseAmount(string(r.Fee))
	switch {
	case err != nil:
		return fee, fmt.Errorf("the fee %w and is %q", err, provider.Clean(string(r.Fee)))
	case change.Sign() < 0 && fee.Cmp(change.Abs()) > 0: // more than the amount that includes it
		return money.Decimal{}, nil
	}
	return fee, nil
}

// group returns what joins the legs of a trade.
func (r row) group() string {
	var about struct {
		Order string `json:"orderId"`
		Trade string `json:"tradeId"`
	}
	if json.Unmarshal([]byte(r.Context), &about) != nil || about.Order == "" {
		return ""
	}
	if about.Trade != "" {
		about.Order += ":" + about.Trade
	}
	return provider.Clean(about.Order)
}

// kinds are the types of records by KuCoin's names of business, of which there are several spellings. Others have no certain type.
var kinds = map[string]string{
	"DEPOSIT": "DEPOSIT", "WITHDRAW": "WITHDRAWAL", "WITHDRAWAL": "WITHDRAWAL", "TRANSFER": "INTERNAL TRANSFER",
	"TRADE_EXCHANGE": "SWAP", "EXCHANGE": "SWAP", "MARGIN_EXCHANGE": "SWAP", "MARGIN_TRADE": "SWAP", "ISOLATED_EXCHANGE": "SWAP",
	"INSTANT_EXCHANGE": "SWAP", "CONVERT_TO_KCS": "SWAP", "STAKING_PROFITS": "STAKING_REWARD", "SOFT_STAKING_PROFITS": "STAKING_REWARD",
	"KCS_PAY_FEES": "FEE", "DEDUCTION_FEES": "FEE", "LIQUIDATION_FEES": "FEE", "REFUNDED_FEES": "REFUND", "RETURNED_FEES": "REFUND",
	"BORROWINGS": "BORROW", "DEBT_REPAYMENT": "REPAYMENT", "REFERRAL_BONUS": "INCOME",
}

// signs are the signs that the amounts of some types have. A business of the type with another sign is not what its name says.
var signs = map[string]int{"DEPOSIT": 1, "WITHDRAWAL": -1, "STAKING_REWARD": 1, "FEE": -1, "REFUND": 1, "BORROW": 1, "REPAYMENT": -1,
	"INCOME": 1}

// kindOf returns the type of a business with an amount of a sign, empty if it is not certain.
func kindOf(business string, sign int) string {
	kind := kinds[strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(strings.TrimSpace(business)))]
	if signs[kind]*sign < 0 {
		return ""
	}
	return kind
}
