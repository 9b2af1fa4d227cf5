package gemini

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// scalar is a number or a text. Gemini writes amounts and ids as either of them.
type scalar string

// UnmarshalJSON keeps the digits of a number as they are.
func (s *scalar) UnmarshalJSON(data []byte) error {
	var number json.Number
	if err := json.Unmarshal(data, &number); err == nil { // a text with a number, too
		*s = scalar(number)
		return nil
	}
	var text string
	err := json.Unmarshal(data, &text)
	*s = scalar(text)
	return err
}

// exponentMax bounds the exponents of numbers.
const exponentMax = money.DigitsAfterMax

// decimal returns a number, which may have an exponent, such as 1.5E-7.
func (s scalar) decimal() (money.Decimal, error) {
	digits, exponent, found := strings.Cut(strings.ToLower(string(s)), "e")
	d, err := money.Parse(digits)
	if err != nil || !found {
		return d, err
	}
	n, err := strconv.Atoi(exponent)
	if err != nil || n > exponentMax || n < -exponentMax {
		return d, fmt.Errorf("%q is no amount", provider.Clean(string(s)))
	}
	shift := money.FromInt(1)
	for range max(n, -n) {
		if n > 0 {
			shift = shift.Mul(money.FromInt(10))
		} else {
			shift = shift.Mul(money.MustParse("0.1"))
		}
	}
	return money.Parse(d.Mul(shift).String()) // which refuses what is too long
}

// instant returns a time in milliseconds.
func (s scalar) instant() (time.Time, error) {
	n, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}, fmt.Errorf("%q is no time", provider.Clean(string(s)))
	}
	return time.UnixMilli(n).UTC(), nil
}

var (
	errNoID     = errors.New("it has no id")
	errCurrency = errors.New("it has no currency")
	errNegative = errors.New("its amount is not above zero")
	errOld      = fmt.Errorf("it has been pending for %d days: enter it by hand if it takes place", openMax/(24*time.Hour))
)

// item is a row of a list as it was understood.
type item struct {
	id      string
	at      time.Time
	open    bool // it may still change
	records []intake.Record
	removed []string // ids of records that are void
	err     error    // why it cannot be understood
}

// start returns an item with its id and its time, which are stated in the same way in all lists.
func start(prefix string, id, at scalar, err error) item {
	out := item{err: err}
	if out.err != nil {
		out.err = fmt.Errorf("it cannot be understood: %w", err)
	}
	when, failed := at.instant()
	if out.at = when; id == "" {
		out.err = cmp.Or(out.err, errNoID)
		return out
	}
	out.id = prefix + string(id)
	out.err = cmp.Or(out.err, failed)
	return out
}

// positive returns an amount that must be above zero.
func (i *item) positive(s scalar) money.Decimal {
	amount, err := s.decimal()
	if err == nil && amount.Sign() <= 0 {
		err = errNegative
	}
	i.err = cmp.Or(i.err, err)
	return amount
}

// optional returns an amount that may be missing.
func (i *item) optional(s scalar) money.Decimal {
	if s == "" {
		return money.Decimal{}
	}
	amount, err := s.decimal()
	i.err = cmp.Or(i.err, err)
	return amount
}

// add adds the records of a movement. The fee gets a record of its own if it is in another currency.
func (i *item) add(r intake.Record, amount, fee money.Decimal, paidIn string) {
	if paidIn == "" || paidIn == r.Currency || fee.IsZero() {
		all, _ := intake.Movement(r, amount, fee)
		i.records = append(i.records, all...)
		return
	}
	all, _ := intake.Movement(r, amount, money.Decimal{})
	i.records = append(i.records, all...)
	i.addFee(r, fee, paidIn)
}

// addFee adds a record of a fee.
func (i *item) addFee(r intake.Record, fee money.Decimal, paidIn string) {
	r.ExternalID, r.Currency, r.Type, r.Crypto, r.Value = i.id+":fee", paidIn, "FEE", nil, nil
	all, _ := intake.Movement(r, fee.Neg(), money.Decimal{})
	i.records = append(i.records, all...)
}

// parseTrade reads a trade. The amount in the quote currency is not stated: it is the price times the amount.
func parseTrade(original json.RawMessage, _ time.Time) item {
	var t struct {
		Price       scalar `json:"price"`
		Amount      scalar `json:"amount"`
		At          scalar `json:"timestampms"`
		Side        string `json:"type"`
		FeeCurrency string `json:"fee_currency"`
		FeeAmount   scalar `json:"fee_amount"`
		ID          scalar `json:"tid"`
		Symbol      string `json:"symbol"`
		Break       string `json:"break"`
	}
	err := json.Unmarshal(original, &t)
	out := start("trade:", t.ID, t.At, err)
	base, quote, err := pair(t.Symbol)
	out.err = cmp.Or(out.err, err)
	amount := out.positive(t.Amount)
	paid := out.positive(scalar(out.positive(t.Price).Mul(amount).Round(money.DigitsAfterMax).String()))
	fee, paidIn := out.optional(t.FeeAmount), provider.Symbol(t.FeeCurrency)
	buy := strings.EqualFold(t.Side, "buy")
	switch {
	case !buy && !strings.EqualFold(t.Side, "sell"):
		out.err = cmp.Or(out.err, fmt.Errorf("%q is neither a purchase nor a sale", provider.Clean(t.Side)))
	case !fee.IsZero() && paidIn == "":
		out.err = cmp.Or(out.err, errCurrency)
	}
	if out.err != nil {
		return out
	}
	r := intake.Record{Timestamp: out.at, ProviderCategory: t.Side, Type: "SWAP", Group: out.id,
		Description: strings.ToLower(t.Side) + " " + provider.Symbol(t.Symbol)}
	from, to := r, r
	from.ExternalID, from.Currency = out.id+":out", quote
	to.ExternalID, to.Currency = out.id+":in", base
	given, taken := paid, amount
	if !buy {
		from.Currency, to.Currency, given, taken = base, quote, amount, paid
	}
	outFee, inFee := money.Decimal{}, money.Decimal{}
	switch paidIn {
	case quote: // the fee belongs to the money
		if buy {
			outFee = fee
		} else {
			inFee = fee
		}
	case base:
		if buy {
			inFee = fee
		} else {
			outFee = fee
		}
	}
	out.add(from, given.Neg(), outFee, "")
	out.add(to, taken, inFee, "")
	if paidIn != base && paidIn != quote && !fee.IsZero() {
		out.addFee(r, fee, paidIn)
	}
	if strings.EqualFold(t.Break, "full") { // as if it had never happened
		for _, r := range out.records {
			out.removed = append(out.removed, r.ExternalID)
		}
		out.records = nil
	}
	return out
}

// quotes are the assets that others are traded against, the longer ones first because some end in others.
var quotes = []string{"RLUSD", "GUSD", "USDT", "USDC", "PAXG", "USD", "EUR", "GBP", "SGD", "AUD", "CAD", "HKD", "BTC", "ETH", "BCH", "LTC",
	"FIL", "DAI"}

// dollars are the pairs against USD that seem to be against GUSD, because the name of the asset ends in G.
var dollars = map[string]bool{"PAXGUSD": true, "MOODENGUSD": true}

// pair returns the assets of a symbol, such as BTC and USD of btcusd.
func pair(name string) (base, quote string, err error) {
	name = provider.Symbol(name)
	if strings.HasSuffix(name, "PERP") {
		return "", "", errors.New("trades of perpetual contracts are not read: enter their profit or loss by hand")
	}
	for _, quote := range quotes {
		base, found := strings.CutSuffix(name, quote)
		if found && base != "" && !(quote == "GUSD" && dollars[name]) {
			return base, quote, nil
		}
	}
	return "", "", fmt.Errorf("%q is not a known pair of assets", provider.Clean(name))
}

// transfers are the types of transfers, which determine the direction: below zero is an outflow.
var transfers = map[string]struct {
	sign int64
	kind string
}{"Deposit": {1, "DEPOSIT"}, "Withdrawal": {-1, "WITHDRAWAL"}, "Reward": {1, ""}, "AdminCredit": {1, ""}, "AdminDebit": {-1, ""}}

// parseTransfer reads a deposit, a withdrawal or what Gemini has credited or debited.
func parseTransfer(original json.RawMessage, now time.Time) item {
	var t struct {
		Type        string `json:"type"`
		Status      string `json:"status"`
		At          scalar `json:"timestampms"`
		ID          scalar `json:"eid"`
		Advance     scalar `json:"advanceEid"` // the id of the same deposit when it was credited in advance
		Currency    string `json:"currency"`
		Amount      scalar `json:"amount"`
		Network     string `json:"network"`
		FeeAmount   scalar `json:"feeAmount"`
		FeeCurrency string `json:"feeCurrency"`
		Hash        string `json:"txHash"`
		Destination string `json:"destination"`
		Method      string `json:"method"`
		Purpose     string `json:"purpose"`
	}
	err := json.Unmarshal(original, &t)
	if t.Advance == "0" {
		t.Advance = ""
	}
	out := start("transfer:", cmp.Or(t.Advance, t.ID), t.At, err)
	amount := out.positive(t.Amount)
	fee := out.optional(t.FeeAmount)
	movement, known := transfers[t.Type]
	currency := provider.Symbol(t.Currency)
	switch {
	case out.err != nil:
	case !known:
		out.err = fmt.Errorf("%q does not say whether it was received or sent: enter it by hand", provider.Clean(t.Type))
	case currency == "":
		out.err = errCurrency
	case t.Status != "Complete":
		out.open = now.Sub(out.at) < openMax
		if !out.open && t.Status != "Advanced" {
			out.err = errOld
		}
	}
	if out.err != nil || out.open {
		return out
	}
	r := intake.Record{ExternalID: out.id, Timestamp: out.at, Currency: currency, ProviderCategory: t.Type, Type: movement.kind, Group: out.id,
		Description: strings.TrimSpace(t.Type + " " + cmp.Or(t.Purpose, t.Method))}
	if t.Hash+t.Network+t.Destination != "" {
		r.Crypto = &intake.Crypto{Chain: t.Network, TransactionHash: t.Hash, To: t.Destination}
	}
	out.add(r, amount.Mul(money.FromInt(movement.sign)), fee, provider.Symbol(t.FeeCurrency))
	return out
}

// parseStaking reads an entry of the staking history. Deposits and redemptions move assets within the account and have no records.
func parseStaking(original json.RawMessage, _ time.Time) item {
	var t struct {
		ID       scalar `json:"transactionId"`
		Type     string `json:"transactionType"`
		Currency string `json:"amountCurrency"`
		Amount   scalar `json:"amount"`
		At       scalar `json:"dateTime"`
	}
	err := json.Unmarshal(original, &t)
	out := start("staking:", t.ID, t.At, err)
	r := intake.Record{ExternalID: out.id, Timestamp: out.at, Currency: provider.Symbol(t.Currency), ProviderCategory: t.Type,
		Description: "staking " + t.Type}
	sign := int64(1)
	switch t.Type {
	case "Deposit", "Redeem", "RedeemPayment", "AdminRedeem":
		return out
	case "Interest":
		r.Type = "STAKING_REWARD"
	case "AdminCreditAdjustment":
	case "AdminDebitAdjustment":
		sign = -1
	default:
		out.err = cmp.Or(out.err, fmt.Errorf("%q does not say whether it was received or paid: enter it by hand", provider.Clean(t.Type)))
	}
	amount := out.positive(t.Amount)
	if r.Currency == "" {
		out.err = cmp.Or(out.err, errCurrency)
	}
	if out.err == nil {
		out.add(r, amount.Mul(money.FromInt(sign)), money.Decimal{}, "")
	}
	return out
}
