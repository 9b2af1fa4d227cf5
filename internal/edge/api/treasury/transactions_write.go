package treasury

import (
	"strconv"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// AppendJSON writes a transaction, because lists of them would spend most of their time in encoding/json.
func (t Transaction) AppendJSON(b []byte) []byte {
	b = wire.AppendString(b, `{"id":`, t.ID)
	b = wire.AppendString(b, `,"sequence_number":`, t.SequenceNumber)
	b = wire.AppendStringOrNull(b, `,"account_id":`, t.AccountID)
	b = wire.AppendString(b, `,"source_id":`, t.SourceID)
	b = wire.AppendString(b, `,"external_id":`, t.ExternalID)
	b = wire.AppendString(b, `,"organization_id":`, t.OrganizationID)
	b = wire.AppendString(b, `,"legal_entity_id":`, t.LegalEntityID)
	b = wire.AppendString(b, `,"source_class":`, t.SourceClass)
	b = wire.AppendString(b, `,"provider":`, t.Provider)
	b = wire.AppendStringOrNull(b, `,"vendor":`, t.Vendor)
	b = wire.AppendStringOrNull(b, `,"provider_category":`, t.ProviderCategory)
	b = t.External.AppendJSON(append(b, `,"external":`...))
	b = t.Crypto.Value.AppendJSON(append(b, `,"crypto":`...))
	b = appendOrNull(b, `,"bank":`, t.Bank.Value)
	b = appendOrNull(b, `,"card":`, t.Card.Value)
	b = t.Internal.AppendJSON(append(b, `,"internal":`...))
	b = wire.AppendStrings(b, `,"tag_ids":`, t.TagIDs)
	b = appendOrNull(b, `,"suggested":`, t.Suggested.Value)
	b = wire.AppendStrings(b, `,"guidance":{"allowed_actions":`, t.Guidance.AllowedActions)
	b = wire.AppendStrings(b, `,"warnings":`, t.Guidance.Warnings)
	b = wire.AppendString(b, `,"version":`, t.Guidance.Version)
	b = append(b, '}')
	if t.Raw != nil {
		b = wire.AppendProperty(b, `,"raw":`, t.Raw)
	}
	b = wire.AppendString(b, `,"created_at":`, t.CreatedAt)
	b = wire.AppendString(b, `,"updated_at":`, t.UpdatedAt)
	return append(b, '}')
}

// appendOrNull writes rare properties with encoding/json.
func appendOrNull[T any](b []byte, name string, v *T) []byte {
	if v == nil {
		return append(append(b, name...), "null"...)
	}
	return wire.AppendProperty(b, name, v)
}

func (e TransactionExternal) AppendJSON(b []byte) []byte {
	b = wire.AppendString(b, `{"timestamp":`, e.Timestamp)
	b = wire.AppendString(b, `,"description":`, e.Description)
	b = wire.AppendString(b, `,"direction":`, e.Direction)
	b = wire.AppendStringOrNull(b, `,"quantity":`, e.Quantity)
	b = wire.AppendString(b, `,"currency":`, e.Currency)
	v := e.ValueFiat.Value
	if v == nil {
		return append(b, `,"value_fiat":null}`...)
	}
	b = wire.AppendString(b, `,"value_fiat":{"gross":`, v.Gross)
	b = wire.AppendString(b, `,"fee":`, v.Fee)
	b = wire.AppendString(b, `,"net":`, v.Net)
	b = wire.AppendString(b, `,"currency":`, v.Currency)
	return append(b, "}}"...)
}

func (c *TransactionCrypto) AppendJSON(b []byte) []byte {
	if c == nil {
		return append(b, "null"...)
	}
	b = wire.AppendStringOrNull(b, `{"chain":`, c.Chain)
	b = wire.AppendStringOrNull(b, `,"transaction_hash":`, c.TransactionHash)
	b = append(b, `,"block_number":`...)
	if c.BlockNumber == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, *c.BlockNumber, 10)
	}
	b = wire.AppendStringOrNull(b, `,"from_address":`, c.FromAddress)
	b = wire.AppendStringOrNull(b, `,"to_address":`, c.ToAddress)
	b = wire.AppendStringOrNull(b, `,"asset_type":`, c.AssetType)
	b = wire.AppendStringOrNull(b, `,"contract_address":`, c.ContractAddress)
	b = wire.AppendStringOrNull(b, `,"token_id":`, c.TokenID)
	b = wire.AppendStringOrNull(b, `,"fee_quantity":`, c.FeeQuantity)
	b = wire.AppendStringOrNull(b, `,"fee_asset_type":`, c.FeeAssetType)
	return append(b, '}')
}

func (i TransactionInternal) AppendJSON(b []byte) []byte {
	b = wire.AppendString(b, `{"transaction_type":`, i.TransactionType)
	b = wire.AppendString(b, `,"status":`, i.Status)
	b = wire.AppendStringOrNull(b, `,"memo":`, i.Memo)
	b = wire.AppendStringOrNull(b, `,"journal_entry_id":`, i.JournalEntryID)
	b = wire.AppendStringOrNull(b, `,"group_id":`, i.GroupID)
	return append(appendOrNull(b, `,"spam":`, i.Spam.Value), '}')
}
