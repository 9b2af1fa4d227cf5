package api

import (
	"slices"
	"strconv"
)

// recordBytes is about how long a record is in JSON, to ask for memory once.
const recordBytes = 1500

// appendJSON writes a page of records that write themselves, and any other the usual way.
func (l List[T]) appendJSON(b []byte) []byte {
	if _, ok := any(*new(T)).(writer); ok {
		b = append(slices.Grow(b, recordBytes*len(l.Data)), `{"data":[`...)
		for i, item := range l.Data {
			if i > 0 {
				b = append(b, ',')
			}
			b = any(item).(writer).appendJSON(b)
		}
		b = append(b, ']')
	} else {
		b = appendProperty(b, `{"data":`, l.Data)
	}
	b = strconv.AppendBool(append(b, `,"has_more":`...), l.HasMore)
	b = appendOptional(b, `,"next_cursor":`, l.NextCursor)
	if l.TotalCount != nil {
		b = strconv.AppendInt(append(b, `,"total_count":`...), *l.TotalCount, 10)
	}
	return append(b, '}')
}

// appendText writes a text; most need no escapes.
func appendText(b []byte, name, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendProperty(b, name, text)
		}
	}
	return append(append(append(append(b, name...), '"'), text...), '"')
}

func appendOptional(b []byte, name string, text *string) []byte {
	if text == nil {
		return append(append(b, name...), "null"...)
	}
	return appendText(b, name, *text)
}

func appendTexts(b []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return append(append(b, name...), "[]"...)
	}
	b = append(b, name...)
	for i, text := range texts {
		sep := ","
		if i == 0 {
			sep = "["
		}
		b = appendText(b, sep, text)
	}
	return append(b, ']')
}

// appendJSON writes a transaction, because lists of them would spend most of their time in encoding/json.
func (t Transaction) appendJSON(b []byte) []byte {
	b = appendText(b, `{"id":`, t.ID)
	b = appendText(b, `,"sequence_number":`, t.SequenceNumber)
	b = appendOptional(b, `,"account_id":`, t.AccountID)
	b = appendText(b, `,"source_id":`, t.SourceID)
	b = appendText(b, `,"external_id":`, t.ExternalID)
	b = appendText(b, `,"organization_id":`, t.OrganizationID)
	b = appendText(b, `,"legal_entity_id":`, t.LegalEntityID)
	b = appendText(b, `,"source_class":`, t.SourceClass)
	b = appendText(b, `,"provider":`, t.Provider)
	b = appendOptional(b, `,"vendor":`, t.Vendor)
	b = appendOptional(b, `,"provider_category":`, t.ProviderCategory)
	b = t.External.appendJSON(append(b, `,"external":`...))
	b = t.Crypto.Value.appendJSON(append(b, `,"crypto":`...))
	b = appendOrNull(b, `,"bank":`, t.Bank.Value)
	b = appendOrNull(b, `,"card":`, t.Card.Value)
	b = t.Internal.appendJSON(append(b, `,"internal":`...))
	b = appendTexts(b, `,"tag_ids":`, t.TagIDs)
	b = appendOrNull(b, `,"suggested":`, t.Suggested.Value)
	b = appendTexts(b, `,"guidance":{"allowed_actions":`, t.Guidance.AllowedActions)
	b = appendTexts(b, `,"warnings":`, t.Guidance.Warnings)
	b = appendText(b, `,"version":`, t.Guidance.Version)
	b = appendText(b, `},"created_at":`, t.CreatedAt)
	b = appendText(b, `,"updated_at":`, t.UpdatedAt)
	return append(b, '}')
}

// appendOrNull writes what is rare the usual way.
func appendOrNull[T any](b []byte, name string, v *T) []byte {
	if v == nil {
		return append(append(b, name...), "null"...)
	}
	return appendProperty(b, name, v)
}

func (e TransactionExternal) appendJSON(b []byte) []byte {
	b = appendText(b, `{"timestamp":`, e.Timestamp)
	b = appendText(b, `,"description":`, e.Description)
	b = appendText(b, `,"direction":`, e.Direction)
	b = appendOptional(b, `,"quantity":`, e.Quantity)
	b = appendText(b, `,"currency":`, e.Currency)
	v := e.ValueFiat.Value
	if v == nil {
		return append(b, `,"value_fiat":null}`...)
	}
	b = appendText(b, `,"value_fiat":{"gross":`, v.Gross)
	b = appendText(b, `,"fee":`, v.Fee)
	b = appendText(b, `,"net":`, v.Net)
	b = appendText(b, `,"currency":`, v.Currency)
	return append(b, "}}"...)
}

func (c *TransactionCrypto) appendJSON(b []byte) []byte {
	if c == nil {
		return append(b, "null"...)
	}
	b = appendOptional(b, `{"chain":`, c.Chain)
	b = appendOptional(b, `,"transaction_hash":`, c.TransactionHash)
	b = append(b, `,"block_number":`...)
	if c.BlockNumber == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, *c.BlockNumber, 10)
	}
	b = appendOptional(b, `,"from_address":`, c.FromAddress)
	b = appendOptional(b, `,"to_address":`, c.ToAddress)
	b = appendOptional(b, `,"asset_type":`, c.AssetType)
	b = appendOptional(b, `,"contract_address":`, c.ContractAddress)
	b = appendOptional(b, `,"token_id":`, c.TokenID)
	b = appendOptional(b, `,"fee_quantity":`, c.FeeQuantity)
	b = appendOptional(b, `,"fee_asset_type":`, c.FeeAssetType)
	return append(b, '}')
}

func (i TransactionInternal) appendJSON(b []byte) []byte {
	b = appendText(b, `{"transaction_type":`, i.TransactionType)
	b = appendText(b, `,"status":`, i.Status)
	b = appendOptional(b, `,"memo":`, i.Memo)
	b = appendOptional(b, `,"journal_entry_id":`, i.JournalEntryID)
	b = appendOptional(b, `,"group_id":`, i.GroupID)
	return append(appendOrNull(b, `,"spam":`, i.Spam.Value), '}')
}
