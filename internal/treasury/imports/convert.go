package imports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Convert returns the parameters of a transaction for a record of a file or of a provider.
func Convert(r intake.Record) transaction.Params {
	p := transaction.Params{
		ExternalID: shortenID(r.ExternalID), At: r.Timestamp, Description: r.Description, Direction: transaction.Debit,
		Quantity: r.Quantity, Currency: r.Currency, Category: r.ProviderCategory, Vendor: r.Vendor, Memo: r.Memo,
		Type: transaction.Type(r.Type), EventKey: r.Group,
	}
	if r.Inflow {
		p.Direction = transaction.Credit
	}
	if v := r.Value; v != nil {
		p.Value = &transaction.ValueParams{Gross: v.Gross, Fee: v.Fee, Net: v.Net, Currency: v.Currency}
	}
	if c := r.Crypto; c != nil {
		p.Crypto = &transaction.Crypto{
			Chain: c.Chain, TransactionHash: c.TransactionHash, From: c.From, To: c.To, AssetType: cmp.Or(c.AssetType, r.Currency),
			ContractAddress: c.ContractAddress, TokenID: c.TokenID, FeeQuantity: c.FeeQuantity, FeeAssetType: c.FeeAssetType,
		}
		if c.BlockNumber != 0 {
			p.Crypto.BlockNumber = &c.BlockNumber
		}
	}
	if b := r.Bank; b != nil {
		p.Bank = &transaction.Bank{BankName: b.BankName, AccountLast4: b.AccountLast4, CounterpartyName: b.CounterpartyName}
	}
	if c := r.Card; c != nil {
		p.Card = &transaction.Card{MerchantName: c.MerchantName, MerchantCategory: c.MerchantCategory, CardholderName: c.CardholderName,
			Last4: c.Last4}
	}
	return p
}

// shortenID returns an id unchanged if it is short enough, and otherwise a shorter id that is always the same for the
// same input.
func shortenID(text string) string {
	if utf8.RuneCountInString(text) <= transaction.ExternalIDMax {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// readRow returns the transactions of a row, or its faults, or neither if the row is skipped.
func readRow(row intake.Row, m intake.Mapping, src source.Source) (all []transaction.Params, faults []intake.Fault) {
	if len(row.Faults) > 0 {
		return nil, row.Faults
	}
	for _, record := range row.Records {
		p := Convert(record)
		var list fault.List
		p.Validate(&list, "")
		transaction.New{Source: src, Params: p}.ValidateHolding(&list, "")
		faults = append(faults, rowFaults(list.Err(), row.Line, m)...)
		all = append(all, p)
	}
	if len(faults) > 0 { // Importing half of an event would be worse than importing none of it.
		return nil, faults
	}
	return all, nil
}

// mapped maps the fields of a transaction that validation reports to fields of a record.
var mapped = map[string]intake.Field{
	"external_id": intake.FieldID, "external.timestamp": intake.FieldTimestamp, "external.description": intake.FieldDescription,
	"external.quantity": intake.FieldAmount,
	"external.currency": intake.FieldCurrency, "external.value_fiat.gross": intake.FieldValueGross,
	"external.value_fiat.fee": intake.FieldValueFee,
	"external.value_fiat.net": intake.FieldValueNet, "external.value_fiat.currency": intake.FieldValueCurrency,
	"external.direction": intake.FieldDirection,
	"provider_category":  intake.FieldProviderCategory, "vendor": intake.FieldVendor, "memo": intake.FieldMemo,
	"transaction_type": intake.FieldType,
	"crypto.chain":     intake.FieldChain, "crypto.transaction_hash": intake.FieldTransactionHash,
	"crypto.block_number": intake.FieldBlockNumber,
	"crypto.from_address": intake.FieldFrom, "crypto.to_address": intake.FieldTo, "crypto.contract_address": intake.FieldContract,
	"crypto.token_id":     intake.FieldTokenID,
	"crypto.fee_quantity": intake.FieldFee, "crypto.fee_asset_type": intake.FieldFeeCurrency, "crypto.asset_type": intake.FieldCurrency,
	"bank.bank_name": intake.FieldBankName, "bank.account_last4": intake.FieldAccount, "bank.counterparty_name": intake.FieldCounterparty,
	"card.merchant_name": intake.FieldMerchant, "card.merchant_category": intake.FieldMerchantCategory,
	"card.cardholder_name": intake.FieldCardholder, "card.last4": intake.FieldCardLast4,
}

// rowFaults converts validation faults into faults of a line, using the column names of the file if they are known.
func rowFaults(err error, line int, m intake.Mapping) (out []intake.Fault) {
	var e *fault.Error
	if !errors.As(err, &e) {
		return nil
	}
	for _, f := range e.Fields {
		column := m.Columns[mapped[f.Name]]
		text := f.Message
		if column == "" {
			text = strings.TrimPrefix(f.Name, "external.") + " " + text
		}
		out = append(out, intake.Fault{Line: line, Column: column, Message: text})
	}
	return out
}
