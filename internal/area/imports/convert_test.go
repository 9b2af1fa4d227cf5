package imports_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/area/imports"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

func TestARecordBecomesWhatItsSourceTells(t *testing.T) {
	t.Parallel()
	at, amount, fee, block := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), money.MustParse("1.5"), money.MustParse("0.1"), int64(7)
	long := strings.Repeat("é", txn.ExternalIDMax)
	for name, c := range map[string]struct {
		record intake.Record
		want   txn.Params
	}{
		"an inflow": {intake.Record{Line: 3, ExternalID: "a", Timestamp: at, Description: "d", Inflow: true, Quantity: &amount, Currency: "USD", ProviderCategory: "c", Vendor: "v", Memo: "m", Type: "INCOME", Group: "g"},
			txn.Params{ExternalID: "a", At: at, Description: "d", Direction: txn.Credit, Quantity: &amount, Currency: "USD", Category: "c", Vendor: "v", Memo: "m", Type: "INCOME", EventKey: "g"}},
		"an outflow of unknown quantity": {intake.Record{ExternalID: "a", Currency: "USD"}, txn.Params{ExternalID: "a", Direction: txn.Debit, Currency: "USD"}},
		"a value": {intake.Record{Value: &intake.Value{Gross: amount, Fee: fee, Net: amount.Sub(fee), Currency: "EUR"}},
			txn.Params{Direction: txn.Debit, Value: &txn.ValueParams{Gross: amount, Fee: fee, Net: amount.Sub(fee), Currency: "EUR"}}},
		"a coin that is its currency": {intake.Record{Currency: "BTC", Crypto: &intake.Crypto{Chain: "bitcoin"}}, txn.Params{Direction: txn.Debit, Currency: "BTC", Crypto: &txn.Crypto{Chain: "bitcoin", AssetType: "BTC"}}},
		"a token": {intake.Record{Currency: "USDC", Crypto: &intake.Crypto{Chain: "ethereum", TransactionHash: "0x", BlockNumber: 7, From: "f", To: "t", AssetType: "USDC.e", ContractAddress: "c", TokenID: "1", FeeQuantity: &fee, FeeAssetType: "ETH"}},
			txn.Params{Direction: txn.Debit, Currency: "USDC", Crypto: &txn.Crypto{Chain: "ethereum", TransactionHash: "0x", BlockNumber: &block, From: "f", To: "t", AssetType: "USDC.e", ContractAddress: "c", TokenID: "1", FeeQuantity: &fee, FeeAssetType: "ETH"}}},
		"a bank": {intake.Record{Bank: &intake.Bank{BankName: "b", AccountLast4: "1234", CounterpartyName: "n"}}, txn.Params{Direction: txn.Debit, Bank: &txn.Bank{BankName: "b", AccountLast4: "1234", CounterpartyName: "n"}}},
		"a card": {intake.Record{Card: &intake.Card{MerchantName: "m", MerchantCategory: "c", CardholderName: "h", Last4: "4321"}},
			txn.Params{Direction: txn.Debit, Card: &txn.Card{MerchantName: "m", MerchantCategory: "c", CardholderName: "h", Last4: "4321"}}},
		"an id as long as can be": {intake.Record{ExternalID: long}, txn.Params{ExternalID: long, Direction: txn.Debit}},
		"an id that is too long":  {intake.Record{ExternalID: long + "e"}, txn.Params{}},
	} {
		got := imports.Convert(c.record)
		if name == "an id that is too long" {
			if again := imports.Convert(c.record); again.ExternalID != got.ExternalID || len(got.ExternalID) != 71 || got.ExternalID == imports.Convert(intake.Record{ExternalID: long + "f"}).ExternalID {
				t.Errorf("%s became %s and %s", name, got.ExternalID, again.ExternalID)
			}
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
