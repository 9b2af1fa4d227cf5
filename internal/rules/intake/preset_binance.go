package intake

import (
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// binance is the transaction history that Binance generates under Export Transaction Records: one row for each change
// of a balance, without ids. Since 2025 the column UTC_Time is called Time, may be in a zone other than UTC (which only
// the file name states), and has two-digit years. Small numbers are written as 1E-8. Layout and operation names were
// taken from exports published with importers of Binance files.
var binance = &preset{
	name:    "binance",
	title:   "Binance transaction history",
	columns: []string{"User_ID|User ID", "UTC_Time|Time", "Account", "Operation", "Coin", "Change", "Remark"},
	open: func(s *sheet, o *Options) interpreter {
		b := &binanceRow{clock: o.Mapping.clock("YYYY-MM-DD HH:mm:ss", "YY-MM-DD HH:mm:ss", "auto"), user: s.find("User_ID", "User ID"),
			time: s.find("UTC_Time", "Time"), account: s.find("Account"), operation: s.find("Operation"), coin: s.find("Coin"),
			change: pointColumn(s.find("Change")), remark: s.find("Remark")}
		if o.Mapping.TimeZone == "" {
			b.shift = zoneInName(o.Name)
		}
		return b.interpret
	},
}

type binanceRow struct {
	clock                   clock
	shift                   time.Duration
	user, time, account     int
	operation, coin, remark int
	change                  numeric
}

// The operation names that Binance uses for the legs of trades, fees and the rest; other operations have no certain
// type.
var (
	binanceTrades = nameSet("Buy|Sell|Transaction Related|Transaction Buy|Transaction Spend|Transaction Sold|Transaction " +
		"Revenue|Binance Convert|" +
		"Large OTC trading|Small assets exchange BNB|Stablecoins Auto-Conversion|Asset Conversion Transfer|Futures Convert")
	binanceFees  = nameSet("Fee|Transaction Fee|BNB Fee Deduction")
	binanceMoves = nameSet("transfer_in|transfer_out|Savings purchase|Savings Principal redemption|POS savings purchase|POS " +
		"savings redemption|" +
		"Staking Purchase|Staking Redemption|Simple Earn Flexible Subscription|Simple Earn Flexible Redemption|" +
		"Simple Earn Locked Subscription|Simple Earn Locked Redemption|Launchpool Subscription/Redemption")
	binanceTypes = map[string]string{
		"deposit": typeDeposit, "fiat deposit": typeDeposit, "withdraw": typeWithdrawal, "fiat withdraw": typeWithdrawal,
		"staking rewards": typeStaking, "eth 2.0 staking rewards": typeStaking,
		"realized profit and loss": typePNL, "realize profit and loss": typePNL,
		"margin loan": typeBorrow, "isolated margin loan": typeBorrow, "margin repayment": typeRepayment, "isolated margin " +
			"repayment": typeRepayment,
	}
)

func (b *binanceRow) interpret(e *entry) ([]Record, string) {
	operation := e.text(b.operation)
	r := Record{Line: e.row.line, Timestamp: e.instant(&b.clock, b.time, e.text(b.time)).Add(-b.shift), Currency: e.currency(b.coin),
		Description: operation, ProviderCategory: operation, Memo: e.text(b.remark)}
	change := e.number(b.change, r.Currency)
	if change == nil && len(e.faults) == 0 {
		e.faultf(b.change.index, "is empty")
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	r.ExternalID = e.contentID()
	word := fold(operation)
	r.Type = binanceTypes[word]
	switch {
	case binanceTrades[word]:
		r.Type = typeSwap
	case binanceFees[word], word == "funding fee":
		if change.Sign() < 0 {
			r.Type = typeFee
		}
	case binanceMoves[word], strings.HasPrefix(word, "transfer between "):
		r.Type = typeInternal
	}
	// The file has no trade ids; the legs of a trade are rows of the same account and second.
	if binanceTrades[word] || binanceFees[word] {
		r.Group = strings.Join([]string{"binance", e.text(b.user), e.text(b.account), r.Timestamp.Format(time.RFC3339)}, ":")
	}
	return Movement(r, *change, money.Decimal{})
}

// zoneInName returns the offset that Binance puts into the file name, such as (UTC+1).
func zoneInName(name string) time.Duration {
	_, rest, found := strings.Cut(name, "(UTC")
	zone, _, closed := strings.Cut(rest, ")")
	if !found || !closed || zone == "" {
		return 0
	}
	var m moment
	if err := parseZone(&m, zone); err != nil {
		return 0
	}
	return time.Duration(m.offset) * time.Second
}
