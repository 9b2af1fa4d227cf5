package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const krakenHeader = `"txid","refid","time","type","subtype","aclass","asset","wallet","amount","fee","balance"` + "\n"

// differences returns the lines of a file whose stated balance does not follow from the rows.
func differences(t *testing.T, name, text string, m intake.Mapping) (out []string) {
	t.Helper()
	in, err := intake.Open(strings.NewReader(text), intake.Options{Name: name, Mapping: m})
	if err != nil {
		t.Fatal(err)
	}
	balances := intake.NewBalances()
	for row, err := in.Next(); err == nil; row, err = in.Next() {
		if f := balances.Compare(row); f != nil {
			out = append(out, fmt.Sprintf("%d %s: %s", f.Line, f.Column, f.Message))
		}
	}
	return out
}

func TestTheBalanceOfAFileIsComparedWithItsRows(t *testing.T) {
	t.Parallel()
	row := func(id, time, asset, amount, fee, balance string) string {
		return fmt.Sprintf("%s,%s,2025-05-01 %s,trade,,currency,%s,spot / main,%s,%s,%s\n", id, id, time, asset, amount, fee, balance)
	}
	rows := []string{
		row("A", "08:00:00", "USDT", "100", "10.87", "89.13"), row("B", "09:00:00", "USDT", "-80", "0.32", "8.81"),
		row("C", "09:00:00", "XXBT", "0.002", "0", "0.002"), row("D", "10:00:00", "USDT", "-8", "0", "0.81"),
	}
	if got := differences(t, "k.csv", krakenHeader+strings.Join(rows, ""), intake.Mapping{}); got != nil {
		t.Errorf("in order: %v", got)
	}
	slices.Reverse(rows)
	if got := differences(t, "k.csv", krakenHeader+strings.Join(rows, ""), intake.Mapping{}); got != nil {
		t.Errorf("newest first: %v", got)
	}
	slices.Reverse(rows)
	without := krakenHeader + rows[0] + rows[2] + rows[3]
	want := []string{"4 balance: the file states a balance of 0.81 USDT, but its rows yield 81.13: rows are missing, or a fee is not where " +
		"the layout expects it"}
	if got := differences(t, "k.csv", without, intake.Mapping{}); !slices.Equal(got, want) {
		t.Errorf("without a row: %q", got)
	}
	mapping := intake.Mapping{Currency: "EUR", Columns: map[intake.Field]string{intake.FieldTimestamp: "Date", intake.FieldAmount: "Amount",
		intake.FieldBalance: "Saldo"}}
	text := "Date,Amount,Saldo\n2025-01-02,5.00,105.00\n2025-01-03,-1.00,104.00\n2025-01-04,-1.00,102.00\n2025-01-05,3.00,unknown\n"
	if got := differences(t, "bank.csv", text, mapping); len(got) != 1 ||
		!strings.HasPrefix(got[0], "4 Saldo: the file states a balance of 102") {
		t.Errorf("a bank statement: %q", got)
	}
}

// What lands and leaves adds up to what the file says, to the last digit, wherever the fee is.
func TestUnitsOfAnyImportAddUpToWhatTheFileSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		held, want := map[string]money.Decimal{}, map[string]money.Decimal{}
		kraken := rapid.Bool().Draw(t, "kraken")
		isNet := rapid.Bool().Draw(t, "after fee")
		text, m := krakenHeader, intake.Mapping{}
		if !kraken {
			text = "Date,Amount,Fee,FeeIn,Coin,Id\n"
			m = intake.Mapping{Decimal: ".", AmountIs: intake.BeforeFee, Columns: map[intake.Field]string{intake.FieldTimestamp: "Date",
				intake.FieldAmount: "Amount", intake.FieldFee: "Fee", intake.FieldFeeCurrency: "FeeIn", intake.FieldCurrency: "Coin",
				intake.FieldID: "Id"}}
			if isNet {
				m.AmountIs = intake.AfterFee
			}
		}
		for n := range rapid.IntRange(1, 20).Draw(t, "rows") {
			coin := rapid.SampledFrom([]string{"USDT", "ETH", "USD", "BTC"}).Draw(t, "coin")
			amount := money.MustParse(rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{0,17}[1-9])?`).Draw(t, "amount"))
			fee := money.MustParse(rapid.StringMatching(`-?[0-9](\.[0-9]{0,17}[1-9])?`).Draw(t, "fee"))
			feeIn := coin
			if !kraken && rapid.IntRange(0, 3).Draw(t, "other asset") == 0 {
				feeIn = "BNB"
			}
			if fee = fee.Abs(); !kraken && isNet && feeIn == coin && amount.Sign() <= 0 && amount.Abs().Cmp(fee) < 0 {
				fee = money.Decimal{} // an outflow is at least its fee
			}
			if (kraken || !isNet) && rapid.IntRange(0, 4).Draw(t, "rebate") == 0 {
				fee = fee.Neg()
			}
			if kraken || !isNet || feeIn != coin {
				want[feeIn] = want[feeIn].Sub(fee)
			}
			want[coin] = want[coin].Add(amount)
			held[coin] = held[coin].Add(amount).Sub(fee)
			if kraken {
				text += fmt.Sprintf("L%d,R%d,2025-05-01 08:00:%02d,trade,,currency,%s,spot,%s,%s,%s\n", n, n, n, coin, amount, fee, held[coin])
			} else {
				text += fmt.Sprintf("2025-05-01,%s,%s,%s,%s,x%d\n", amount, fee, feeIn, coin, n)
			}
		}
		in, err := intake.Open(strings.NewReader(text), intake.Options{Name: "x.csv", Mapping: m})
		if err != nil {
			t.Fatal(err)
		}
		balances, got := intake.NewBalances(), map[string]money.Decimal{}
		for row, err := in.Next(); err == nil; row, err = in.Next() {
			if len(row.Faults) > 0 {
				t.Fatalf("%v in\n%s", row.Faults, text)
			}
			if f := balances.Compare(row); f != nil {
				t.Fatalf("line %d: %s in\n%s", f.Line, f.Message, text)
			}
			for _, r := range row.Records {
				got[r.Currency] = got[r.Currency].Add(*r.Moved())
			}
		}
		for coin, sum := range want {
			if !sum.Equal(got[coin]) {
				t.Fatalf("%s: the records move %s, the file %s:\n%s", coin, got[coin], sum, text)
			}
		}
	})
}
