package binance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// The types of records that are certain.
const (
	typeDeposit    = "DEPOSIT"
	typeWithdrawal = "WITHDRAWAL"
	typeSwap       = "SWAP"
	typeMove       = "INTERNAL TRANSFER"
	typeFee        = "FEE"
	typeReward     = "STAKING_REWARD"
)

// What is wrong with rows. A row with errIdle is none of these: it has moved nothing, or not yet.
var (
	errIdle     = errors.New("nothing has moved")
	errNoID     = errors.New("it has no id")
	errNoTime   = errors.New("it does not state its time")
	errNoAsset  = errors.New("it does not state its asset")
	errNegative = errors.New("its amount is below zero")
)

// leg is the movement of one asset.
type leg struct {
	suffix string // tells the ids of the legs apart
	asset  asset
	moved  amount // above zero
	out    bool
	fee    money.Decimal // in the same asset
	kind   string
}

// movement returns the records of legs. r holds the rest of them. Several legs are a group.
func movement(r intake.Record, id identifier, legs ...leg) (out []intake.Record, err error) {
	switch {
	case id == "":
		return nil, errNoID
	case r.Timestamp.IsZero():
		return nil, errNoTime
	}
	r.ExternalID += ":" + string(id)
	for _, l := range legs {
		switch {
		case l.asset == "":
			return nil, errNoAsset
		case !l.moved.known:
			return nil, errAmount
		case l.moved.Sign() < 0:
			return nil, errNegative
		case l.moved.IsZero() && l.fee.IsZero():
			continue
		}
		one := r
		one.Currency, one.Type = string(l.asset), l.kind
		if len(legs) > 1 {
			one.ExternalID, one.Group = r.ExternalID+":"+l.suffix, r.ExternalID
		}
		moved := l.moved.Decimal
		if l.out {
			moved = moved.Neg()
		}
		records, _ := intake.Movement(one, moved, l.fee)
		out = append(out, records...)
	}
	if len(out) == 0 {
		return nil, errIdle
	}
	return out, nil
}

// states tell whether a row has moved something, by its status. A row with another status cannot be understood.
type states map[string]bool

func (s states) check(status string) error {
	moved, known := s[status]
	switch {
	case !known:
		return fmt.Errorf("its status %q is not known", status)
	case !moved:
		return errIdle
	}
	return nil
}

// Statuses of rows.
var (
	// pending, success, rejected, credited but not to be withdrawn, wrong, waiting for a confirmation
	depositStates = states{"0": false, "1": true, "2": false, "6": true, "7": false, "8": false}
	// mail sent, cancelled, waiting for an approval, rejected, in process, failed, completed
	withdrawalStates = states{"0": false, "1": false, "2": false, "3": false, "4": false, "5": false, "6": true}
	fiatStates       = states{"Successful": true, "Finished": true, "Completed": true, "Processing": false, "Failed": false, "Expired": false,
		"Refunding": false, "Refunded": false, "Refund Failed": false, "Order Partial credit Stopped": false}
	convertStates  = states{"SUCCESS": true, "PROCESS": false, "ACCEPT_SUCCESS": false, "FAIL": false}
	transferStates = states{"CONFIRMED": true, "PENDING": false, "FAILED": false}
	earnStates     = states{"SUCCESS": true, "PAID": true, "PURCHASING": false, "PROCESSING": false, "PENDING": false, "CREATED": false,
		"REDEEMING": false, "FAILED": false, "FAIL": false}
)

// hash returns the hash of a transaction. For a transfer within Binance, Binance states a sentence instead.
func hash(id text) string {
	if strings.ContainsRune(string(id), ' ') {
		return ""
	}
	return string(id)
}

// network returns the network of a transfer, for people.
func network(name text) string {
	if name == "" {
		return ""
	}
	return "network " + string(name)
}

func deposit(original json.RawMessage) ([]intake.Record, error) {
	var row struct {
		ID         identifier `json:"id"`
		Amount     amount     `json:"amount"`
		Coin       asset      `json:"coin"`
		Network    text       `json:"network"`
		Status     text       `json:"status"`
		Address    text       `json:"address"`
		Source     text       `json:"sourceAddress"`
		TxID       text       `json:"txId"`
		InsertTime instant    `json:"insertTime"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return nil, err
	}
	if err := depositStates.check(string(row.Status)); err != nil {
		return nil, err
	}
	r := intake.Record{ExternalID: "deposit", Timestamp: row.InsertTime.Time, Description: "Deposit", ProviderCategory: "deposit",
		Memo: network(row.Network), Crypto: &intake.Crypto{TransactionHash: hash(row.TxID), From: string(row.Source), To: string(row.Address)}}
	if row.ID == "" && row.TxID != "" { // old deposits may have no id
		row.ID = identifier(strings.ReplaceAll(string(row.TxID), " ", "-") + ":" + string(row.Coin))
	}
	return movement(r, row.ID, leg{asset: row.Coin, moved: row.Amount, kind: typeDeposit})
}

func withdrawal(original json.RawMessage) ([]intake.Record, error) {
	var row struct {
		ID        identifier `json:"id"`
		Amount    amount     `json:"amount"`
		Fee       amount     `json:"transactionFee"`
		Coin      asset      `json:"coin"`
		Network   text       `json:"network"`
		Status    text       `json:"status"`
		Address   text       `json:"address"`
		TxID      text       `json:"txId"`
		ApplyTime instant    `json:"applyTime"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return nil, err
	}
	if err := withdrawalStates.check(string(row.Status)); err != nil {
		return nil, err
	}
	r := intake.Record{ExternalID: "withdrawal", Timestamp: row.ApplyTime.Time, Description: "Withdrawal", ProviderCategory: "withdrawal",
		Memo: network(row.Network), Crypto: &intake.Crypto{TransactionHash: hash(row.TxID), To: string(row.Address)}}
	return movement(r, row.ID, leg{asset: row.Coin, moved: row.Amount, out: true, fee: row.Fee.Decimal, kind: typeWithdrawal})
}

// fiatOrder reads a deposit or a withdrawal of fiat money. The amount is what arrived, and the fee was paid before that.
func fiatOrder(out bool) func(json.RawMessage) ([]intake.Record, error) {
	return func(original json.RawMessage) ([]intake.Record, error) {
		var row struct {
			OrderNo    identifier `json:"orderNo"`
			Currency   asset      `json:"fiatCurrency"`
			Amount     amount     `json:"amount"`
			Fee        amount     `json:"totalFee"`
			Method     text       `json:"method"`
			Status     text       `json:"status"`
			CreateTime instant    `json:"createTime"`
		}
		if err := json.Unmarshal(original, &row); err != nil {
			return nil, err
		}
		if err := fiatStates.check(string(row.Status)); err != nil {
			return nil, err
		}
		r := intake.Record{ExternalID: "fiat", Timestamp: row.CreateTime.Time, Description: "Fiat deposit", ProviderCategory: "fiat deposit",
			Memo: string(row.Method)}
		l := leg{asset: row.Currency, moved: row.Amount, out: out, fee: row.Fee.Decimal, kind: typeDeposit}
		if out {
			r.Description, r.ProviderCategory, l.kind = "Fiat withdrawal", "fiat withdrawal", typeWithdrawal
		} else {
			l.moved.Decimal = l.moved.Add(l.fee)
		}
		return movement(r, row.OrderNo, l)
	}
}

// fromBalance is the method of a payment out of the fiat money in the account.
const fromBalance = "Cash Balance"

// payment reads a purchase or a sale of crypto for fiat money that, except for purchases out of the balance, never was in the account.
func payment(out bool) func(json.RawMessage) ([]intake.Record, error) {
	return func(original json.RawMessage) ([]intake.Record, error) {
		var row struct {
			OrderNo    identifier `json:"orderNo"`
			Fiat       asset      `json:"fiatCurrency"`
			Paid       amount     `json:"sourceAmount"`
			Crypto     asset      `json:"cryptoCurrency"`
			Obtained   amount     `json:"obtainAmount"`
			Fee        amount     `json:"totalFee"`
			Method     text       `json:"paymentMethod"`
			Status     text       `json:"status"`
			CreateTime instant    `json:"createTime"`
		}
		if err := json.Unmarshal(original, &row); err != nil {
			return nil, err
		}
		if err := fiatStates.check(string(row.Status)); err != nil {
			return nil, err
		}
		r := intake.Record{ExternalID: "payment", Timestamp: row.CreateTime.Time, Description: "Purchase", ProviderCategory: "fiat buy",
			Memo: string(row.Method)}
		if out {
			r.Description, r.ProviderCategory = "Sale", "fiat sell"
		}
		gets := leg{suffix: "crypto", asset: row.Crypto, moved: row.Obtained, out: out}
		if row.Method == fromBalance && !out {
			gets.kind = typeSwap
			row.Paid.Decimal = row.Paid.Sub(row.Fee.Decimal)
			return movement(r, row.OrderNo, gets, leg{suffix: "fiat", asset: row.Fiat, moved: row.Paid, out: true, fee: row.Fee.Decimal,
				kind: typeSwap})
		}
		if row.Paid.known && row.Fiat != "" && row.Fee.Sign() >= 0 && row.Paid.Cmp(row.Fee.Decimal) >= 0 {
			r.Value = &intake.Value{Gross: row.Paid.Decimal, Fee: row.Fee.Decimal, Net: row.Paid.Sub(row.Fee.Decimal), Currency: string(row.Fiat)}
		}
		return movement(r, row.OrderNo, gets)
	}
}

func conversion(original json.RawMessage) ([]intake.Record, error) {
	var row struct {
		OrderID    identifier `json:"orderId"`
		Status     text       `json:"orderStatus"`
		From       asset      `json:"fromAsset"`
		Spent      amount     `json:"fromAmount"`
		To         asset      `json:"toAsset"`
		Received   amount     `json:"toAmount"`
		CreateTime instant    `json:"createTime"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return nil, err
	}
	if err := convertStates.check(string(row.Status)); err != nil {
		return nil, err
	}
	r := intake.Record{ExternalID: "convert", Timestamp: row.CreateTime.Time, Description: "Conversion", ProviderCategory: "convert"}
	return movement(r, row.OrderID, leg{suffix: "out", asset: row.From, moved: row.Spent, out: true, kind: typeSwap},
		leg{suffix: "in", asset: row.To, moved: row.Received, kind: typeSwap})
}

// payout reads what Binance calls an asset dividend: rewards, airdrops, rebates and the like, and what it takes back of them.
func payout(original json.RawMessage) ([]intake.Record, error) {
	var row struct {
		ID        identifier `json:"id"`
		Amount    amount     `json:"amount"`
		Asset     asset      `json:"asset"`
		Time      instant    `json:"divTime"`
		Info      text       `json:"enInfo"`
		Direction text       `json:"direction"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return nil, err
	}
	l := leg{asset: row.Asset, moved: row.Amount}
	switch row.Direction {
	case "", "1":
	case "-1":
		l.out = true
	default:
		return nil, fmt.Errorf("its direction %q is not known", row.Direction)
	}
	if !l.out && strings.Contains(strings.ToLower(string(row.Info)), "staking") {
		l.kind = typeReward
	}
	r := intake.Record{ExternalID: "dividend", Timestamp: row.Time.Time, Description: string(row.Info), ProviderCategory: "dividend"}
	if row.Info != "" {
		r.ProviderCategory = string(row.Info)
	}
	return movement(r, row.ID, l)
}

// dust reads a conversion of small amounts of several assets. What is received for each is stated without the fee that was deducted.
func dust(original json.RawMessage) (out []intake.Record, err error) {
	var row struct {
		ID   identifier `json:"transId"`
		Time instant    `json:"operateTime"`
		Rows []struct {
			From     asset  `json:"fromAsset"`
			Spent    amount `json:"amount"`
			To       asset  `json:"targetAsset"`
			Received amount `json:"transferedAmount"`
			Fee      amount `json:"serviceChargeAmount"`
		} `json:"userAssetDribbletDetails"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return nil, err
	}
	r := intake.Record{ExternalID: "dust", Timestamp: row.Time.Time, Description: "Conversion of small amounts", ProviderCategory: "dribblet"}
	for _, d := range row.Rows {
		if d.To == "" {
			d.To = "BNB" // at first, there was no other
		}
		d.Received.Decimal = d.Received.Add(d.Fee.Decimal)
		records, err := movement(r, row.ID, leg{suffix: string(d.From) + ":out", asset: d.From, moved: d.Spent, out: true, kind: typeSwap},
			leg{suffix: string(d.From) + ":in", asset: d.To, moved: d.Received, fee: d.Fee.Decimal, kind: typeSwap})
		if err != nil {
			return nil, err
		}
		out = append(out, records...)
	}
	if len(out) == 0 {
		return nil, errIdle
	}
	return out, nil
}

// transfer reads a transfer between a wallet that is read here and one that is not.
func transfer(kind string, out bool) func(json.RawMessage) ([]intake.Record, error) {
	return func(original json.RawMessage) ([]intake.Record, error) {
		var row struct {
			ID     identifier `json:"tranId"`
			Asset  asset      `json:"asset"`
			Amount amount     `json:"amount"`
			Status text       `json:"status"`
			Time   instant    `json:"timestamp"`
		}
		if err := json.Unmarshal(original, &row); err != nil {
			return nil, err
		}
		if err := transferStates.check(string(row.Status)); err != nil {
			return nil, err
		}
		r := intake.Record{ExternalID: "transfer", Timestamp: row.Time.Time, Description: "Transfer between wallets", ProviderCategory: kind}
		return movement(r, row.ID, leg{asset: row.Asset, moved: row.Amount, out: out, kind: typeMove})
	}
}

// trade returns the records of a trade in a market.
func (m market) trade(original json.RawMessage) (id int64, at time.Time, out []intake.Record, err error) {
	var row struct {
		ID         json.Number `json:"id"`
		Quantity   amount      `json:"qty"`
		Quote      amount      `json:"quoteQty"`
		Commission amount      `json:"commission"`
		Charged    asset       `json:"commissionAsset"`
		Time       instant     `json:"time"`
		IsBuyer    *bool       `json:"isBuyer"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return 0, at, nil, err
	}
	if id, err = row.ID.Int64(); err != nil || id < 0 {
		return 0, at, nil, errNoID
	}
	if row.IsBuyer == nil {
		return id, row.Time.Time, nil, errors.New("it does not state whether it is a purchase")
	}
	bought := *row.IsBuyer
	r := intake.Record{ExternalID: "trade:" + m.Symbol, Timestamp: row.Time.Time, Description: "Buy " + m.Symbol, ProviderCategory: "buy"}
	if !bought {
		r.Description, r.ProviderCategory = "Sell "+m.Symbol, "sell"
	}
	legs := []leg{{suffix: "base", asset: m.Base, moved: row.Quantity, out: !bought, kind: typeSwap},
		{suffix: "quote", asset: m.Quote, moved: row.Quote, out: bought, kind: typeSwap}}
	switch {
	case row.Commission.IsZero():
	case row.Charged == m.Base:
		legs[0].fee = row.Commission.Decimal
	case row.Charged == m.Quote:
		legs[1].fee = row.Commission.Decimal
	case row.Commission.Sign() < 0:
		err = errNegative
	default:
		legs = append(legs, leg{suffix: "fee", asset: row.Charged, moved: row.Commission, out: true, kind: typeFee})
	}
	if err == nil {
		out, err = movement(r, identifier(row.ID), legs...)
	}
	return id, row.Time.Time, out, err
}
