package imports_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestARecordBecomesATransaction(t *testing.T) {
	t.Parallel()
	at, amount, fee, block := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), money.MustParse("1.5"), money.MustParse("0.1"), int64(7)
	long := strings.Repeat("é", transaction.ExternalIDMax)
	for name, c := range map[string]struct {
		record intake.Record
		want   transaction.Params
	}{
		"an inflow": {intake.Record{Line: 3, ExternalID: "a", Timestamp: at, Description: "d", Inflow: true, Quantity: &amount,
			Currency: "USD", ProviderCategory: "c", Vendor: "v", Memo: "m", Type: "INCOME", Group: "g"},
			transaction.Params{ExternalID: "a", At: at, Description: "d", Direction: transaction.Credit, Quantity: &amount, Currency: "USD",
				Category: "c", Vendor: "v", Memo: "m", Type: "INCOME", EventKey: "g"}},
		"an outflow of unknown quantity": {intake.Record{ExternalID: "a", Currency: "USD"}, transaction.Params{ExternalID: "a",
			Direction: transaction.Debit, Currency: "USD"}},
		"a value": {intake.Record{Value: &intake.Value{Gross: amount, Fee: fee, Net: amount.Sub(fee), Currency: "EUR"}},
			transaction.Params{Direction: transaction.Debit, Value: &transaction.ValueParams{Gross: amount, Fee: fee, Net: amount.Sub(fee),
				Currency: "EUR"}}},
		"a coin that is its currency": {intake.Record{Currency: "BTC", Crypto: &intake.Crypto{Chain: "bitcoin"}},
			transaction.Params{Direction: transaction.Debit, Currency: "BTC", Crypto: &transaction.Crypto{Chain: "bitcoin", AssetType: "BTC"}}},
		"a token": {intake.Record{Currency: "USDC", Crypto: &intake.Crypto{Chain: "ethereum", TransactionHash: "0x", BlockNumber: 7,
			From: "f", To: "t", AssetType: "USDC.e", ContractAddress: "c", TokenID: "1", FeeQuantity: &fee, FeeAssetType: "ETH"}},
			transaction.Params{Direction: transaction.Debit, Currency: "USDC", Crypto: &transaction.Crypto{Chain: "ethereum",
				TransactionHash: "0x", BlockNumber: &block, From: "f", To: "t", AssetType: "USDC.e", ContractAddress: "c", TokenID: "1",
				FeeQuantity: &fee, FeeAssetType: "ETH"}}},
		"a bank": {intake.Record{Bank: &intake.Bank{BankName: "b", AccountLast4: "1234", CounterpartyName: "n"}},
			transaction.Params{Direction: transaction.Debit, Bank: &transaction.Bank{BankName: "b", AccountLast4: "1234", CounterpartyName: "n"}}},
		"a card": {intake.Record{Card: &intake.Card{MerchantName: "m", MerchantCategory: "c", CardholderName: "h", Last4: "4321"}},
			transaction.Params{Direction: transaction.Debit, Card: &transaction.Card{MerchantName: "m", MerchantCategory: "c",
				CardholderName: "h", Last4: "4321"}}},
		"an id as long as can be": {intake.Record{ExternalID: long}, transaction.Params{ExternalID: long, Direction: transaction.Debit}},
		"an id that is too long":  {intake.Record{ExternalID: long + "e"}, transaction.Params{}},
	} {
		got := imports.Convert(c.record)
		if name == "an id that is too long" {
			if again := imports.Convert(c.record); again.ExternalID != got.ExternalID || len(got.ExternalID) != 71 ||
				got.ExternalID == imports.Convert(intake.Record{ExternalID: long + "f"}).ExternalID {
				t.Errorf("%s became %s and %s", name, got.ExternalID, again.ExternalID)
			}
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
