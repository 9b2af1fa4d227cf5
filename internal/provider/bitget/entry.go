package bitget

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// entry is a record of Bitget.
type entry struct {
	id, coin, kind, order string
	at                    time.Time
	amount, fee           money.Decimal
}

var (
	errForm   = errors.New("it is not a record of Bitget")
	errID     = errors.New("it has no id")
	errTime   = errors.New("it has no time")
	errCoin   = errors.New("it has no coin")
	errAmount = errors.New("it has no amount")
	errFee    = errors.New("it has no fee")
)

// symbolMax is how long the symbol of a coin can be.
const symbolMax = 30

// parse reads a record of a classic or of a unified account.
func parse(original json.RawMessage) (e entry, err error) {
	var r struct {
		ID      string            `json:"id"`
		Coin    string            `json:"coin"`
		TaxType string            `json:"spotTaxType"` // of a classic account
		Type    string            `json:"type"`        // of a unified account
		Amount  *provider.Decimal `json:"amount"`
		Fee     *provider.Decimal `json:"fee"`
		Time    string            `json:"ts"`
		Order   string            `json:"bizOrderId"`
	}
	if json.Unmarshal(original, &r) != nil {
		return e, errForm
	}
	if r.ID == "" || strings.Trim(r.ID, "0123456789") != "" {
		return e, errID
	}
	e = entry{id: r.ID, coin: strings.ToUpper(provider.Clean(r.Coin)), kind: provider.Clean(r.TaxType + r.Type),
		order: provider.Clean(r.Order)}
	milliseconds, err := strconv.ParseInt(r.Time, 10, 64)
	switch e.at = moment(milliseconds); {
	case err != nil || milliseconds < opened:
		return e, errTime
	case e.coin == "" || len(e.coin) > symbolMax:
		return e, errCoin
	case r.Amount == nil:
		return e, errAmount
	case r.Fee == nil:
		return e, errFee
	}
	e.amount, e.fee = r.Amount.Decimal, r.Fee.Decimal
	return e, nil
}

// tags are the types of records of which it is certain what they are, in lower-case letters.
var tags = map[string]string{
	// of classic accounts
	"deposit": "DEPOSIT", "fiat deposit": "DEPOSIT", "withdrawal": "WITHDRAWAL", "ordinary withdrawal": "WITHDRAWAL",
	"fiat withdrawal success - deduct": "WITHDRAWAL", "buy": "SWAP", "sell": "SWAP", "exchange spending": "SWAP", "exchange income": "SWAP",
	"transaction fee deduct": "FEE", "user fees": "FEE", "system charges fees": "FEE", "fast withdrawal fee": "FEE",
	"interest": "INCOME", "batch_interest_user_in": "INCOME",
	"transfer in": "INTERNAL TRANSFER", "transfer out": "INTERNAL TRANSFER", "automatic deposit": "INTERNAL TRANSFER",
	"automatic withdrawal": "INTERNAL TRANSFER", "deposit from strategy account": "INTERNAL TRANSFER",
	"withdraw to strategy account": "INTERNAL TRANSFER", "financial_lock_out": "INTERNAL TRANSFER",
	"financial_unlock_in": "INTERNAL TRANSFER", "financial_user_out": "INTERNAL TRANSFER", "financial_pos_out": "INTERNAL TRANSFER",
	"redemption": "INTERNAL TRANSFER",
	// of unified accounts
	"order_dealt_in": "SWAP", "order_dealt_frozen_out": "SWAP", "order_plf_fee_out": "FEE", "small_asset_source_token_user_out": "SWAP",
	"small_asset_target_token_user_in": "SWAP", "contract_main_settle_fee_user_out": "FEE", "fixed_settle_fee_user_out": "FEE",
	"ins_loan_disburse_user_in": "BORROW", "ins_loan_repay_pool_user_out": "REPAYMENT",
	"close_long": "REALIZED_PNL", "close_short": "REALIZED_PNL", "buy_deal": "REALIZED_PNL", "sell_deal": "REALIZED_PNL",
	"force_close_long": "REALIZED_PNL", "force_close_short": "REALIZED_PNL", "burst_close_long": "REALIZED_PNL",
	"burst_close_short": "REALIZED_PNL", "offset_reduce_close_long": "REALIZED_PNL", "offset_reduce_close_short": "REALIZED_PNL",
	"force_buy_ssm": "REALIZED_PNL", "force_sell_ssm": "REALIZED_PNL", "burst_buy_ssm": "REALIZED_PNL", "burst_sell_ssm": "REALIZED_PNL",
	"adl_close_long": "REALIZED_PNL", "adl_close_short": "REALIZED_PNL", "adl_buy_in_single_side_mode": "REALIZED_PNL",
	"adl_sell_in_single_side_mode": "REALIZED_PNL",
}

var (
	inflows  = []string{"DEPOSIT", "INCOME", "BORROW"}
	outflows = []string{"WITHDRAWAL", "FEE", "REPAYMENT"}
)

// tag returns what a record is, and an empty text if that is not certain.
func (e entry) tag() string {
	tag := tags[strings.ToLower(e.kind)]
	if e.amount.Sign() < 0 && slices.Contains(inflows, tag) || e.amount.Sign() > 0 && slices.Contains(outflows, tag) {
		return "" // it was returned
	}
	return tag
}

// joined are types of records of a unified account of which several are one trade. These have no number of an order in common, but the
// section and the time.
var joined = []string{"ORDER_DEALT_IN", "ORDER_DEALT_FROZEN_OUT", "ORDER_PLF_FEE_OUT", "SMALL_ASSET_SOURCE_TOKEN_USER_OUT",
	"SMALL_ASSET_TARGET_TOKEN_USER_IN"}

// records returns the records of an entry. The fee comes on top of the amount.
func (e entry) records(of string) []intake.Record {
	r := intake.Record{ExternalID: e.id, Timestamp: e.at, Currency: e.coin, Description: e.kind, ProviderCategory: e.kind, Type: e.tag()}
	if e.order != "0" {
		r.Group = e.order
	}
	if r.Group == "" && slices.Contains(joined, e.kind) {
		r.Group = of + ":" + strconv.FormatInt(e.at.UnixMilli(), 10)
	}
	records, _ := intake.Movement(r, e.amount, e.fee.Abs())
	return records
}
