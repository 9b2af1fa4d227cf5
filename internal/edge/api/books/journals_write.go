package books

import (
	"strconv"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// AppendJSON writes an entry: each is written twice when it is created, for the answer and for the event, and lists have many.
func (e JournalEntry) AppendJSON(b []byte) []byte {
	b = wire.AppendString(b, `{"id":`, e.ID)
	b = wire.AppendString(b, `,"organization_id":`, e.OrganizationID)
	b = wire.AppendString(b, `,"sequence_number":`, e.SequenceNumber)
	b = wire.AppendString(b, `,"status":`, e.Status)
	b = wire.AppendString(b, `,"originated_by":`, e.OriginatedBy)
	b = wire.AppendString(b, `,"accounting_date":`, e.AccountingDate)
	b = wire.AppendStringOrNull(b, `,"posted_at":`, e.PostedAt)
	b = wire.AppendStringOrNull(b, `,"memo":`, e.Memo)
	b = wire.AppendStringOrNull(b, `,"sync_date":`, e.SyncDate)
	b = wire.AppendStringOrNull(b, `,"last_synced_at":`, e.LastSyncedAt)
	b = wire.AppendStringOrNull(b, `,"last_unsynced_at":`, e.LastUnsyncedAt)
	b = wire.AppendStringOrNull(b, `,"legal_entity_id":`, e.LegalEntityID)
	b = wire.AppendStringOrNull(b, `,"transaction_id":`, e.TransactionID)
	b = wire.AppendStringOrNull(b, `,"transaction_sequence_number":`, e.TransactionNumber)
	b = wire.AppendStringOrNull(b, `,"accounting_period_id":`, e.PeriodID)
	b = wire.AppendString(b, `,"classification":`, e.Classification)
	b = wire.AppendStrings(b, `,"tag_ids":`, e.TagIDs)
	b = wire.AppendStringOrNull(b, `,"reversal_chain":{"previous_entry_id":`, e.ReversalChain.PreviousEntryID)
	b = wire.AppendStringOrNull(b, `,"next_entry_id":`, e.ReversalChain.NextEntryID)
	b = strconv.AppendBool(append(b, `},"period_auto_reassigned":`...), e.PeriodReassigned)
	b = wire.AppendStringOrNull(b, `,"intended_accounting_date":`, e.IntendedDate)
	b = strconv.AppendBool(append(b, `,"legal_entity_auto_assigned":`...), e.EntityAssigned)
	b = append(b, `,"lines":[`...)
	for i, l := range e.Lines {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendLine(b, l)
	}
	b = append(b, ']')
	if len(e.Lots) > 0 {
		b = wire.AppendProperty(b, `,"lots":`, e.Lots)
	}
	if len(e.Changes) > 0 {
		b = wire.AppendProperty(b, `,"changes":`, e.Changes)
	}
	b = strconv.AppendBool(append(b, `,"is_sync":`...), e.IsSync)
	if e.LatestSync.Value == nil {
		b = append(b, `,"latest_gl_sync_attempt":null`...)
	} else {
		b = wire.AppendProperty(b, `,"latest_gl_sync_attempt":`, e.LatestSync.Value)
	}
	b = wire.AppendStrings(b, `,"guidance":{"allowed_actions":`, e.Guidance.AllowedActions)
	b = wire.AppendStrings(b, `,"warnings":`, e.Guidance.Warnings)
	b = wire.AppendString(b, `,"version":`, e.Guidance.Version)
	b = wire.AppendString(b, `},"created_at":`, e.CreatedAt)
	b = wire.AppendString(b, `,"updated_at":`, e.UpdatedAt)
	return append(b, '}')
}

// appendLine writes a line. It is no method, because views that contain a line would have it too.
func appendLine(b []byte, l JournalLine) []byte {
	b = wire.AppendString(b, `{"id":`, l.ID)
	b = wire.AppendString(b, `,"ledger_account_id":`, l.LedgerAccountID)
	b = wire.AppendString(b, `,"legal_entity_id":`, l.LegalEntityID)
	b = wire.AppendString(b, `,"credit_or_debit":`, l.CreditOrDebit)
	b = wire.AppendString(b, `,"amount":`, l.Amount)
	b = wire.AppendString(b, `,"currency":`, l.Currency)
	b = wire.AppendStringOrNull(b, `,"base_amount":`, l.BaseAmount)
	b = wire.AppendStringOrNull(b, `,"memo":`, l.Memo)
	b = wire.AppendStrings(b, `,"tag_ids":`, l.TagIDs)
	b = wire.AppendStringOrNull(b, `,"unit":`, l.Unit)
	b = wire.AppendStringOrNull(b, `,"unit_quantity":`, l.UnitQuantity)
	return append(b, '}')
}

// AppendJSON writes the created entries.
func (all JournalEntries) AppendJSON(b []byte) []byte {
	b = append(b, `{"data":[`...)
	for i, e := range all.Data {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.AppendJSON(b)
	}
	return append(b, "]}"...)
}
