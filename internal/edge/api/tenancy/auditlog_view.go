package tenancy

import "encoding/json"

// AuditEntry is an audit record.
type AuditEntry struct {
	SequenceNumber int64           `json:"sequence_number" doc:"Sequence number in the organization's audit log, from 1 without gaps."`
	CreatedAt      string          `json:"created_at" format:"date-time" doc:"When the change was made."`
	Action         string          `json:"action" doc:"Action, such as organization.updated."`
	ResourceType   string          `json:"resource_type" doc:"Type of the changed record."`
	ResourceID     string          `json:"resource_id" doc:"Identifier of the changed record."`
	UserID         *string         `json:"user_id" doc:"User who made the change. Null for a key without a user and for the service itself."`
	APIKeyID       *string         `json:"api_key_id" doc:"API key that made the change; null if none."`
	AppID          *string         `json:"connected_app_id" doc:"App that made the change for the user; null if none."`
	FirmID         *string         `json:"firm_id" doc:"Accounting firm whose person made the change; null for members of the organization."`
	RequestID      *string         `json:"request_id" doc:"Request that made the change; null if none."`
	Before         json.RawMessage `json:"before" doc:"Record before the change; null if it was created."`
	After          json.RawMessage `json:"after" doc:"Record after the change; null if it was deleted."`
	PreviousHash   string          `json:"previous_hash" doc:"Hash of the previous audit record; empty for the first."`
	Hash           string          `json:"hash" doc:"SHA-256 (hexadecimal) of this audit record and the previous hash."`
}

// AuditVerification is the result of verifying the hash chain.
type AuditVerification struct {
	Valid              bool    `json:"valid" doc:"Whether everything that was verified is intact."`
	Complete           bool    `json:"complete" doc:"Whether the end of the log was reached. If not, continue with after set to last_sequence_number."`
	Checked            int64   `json:"checked" doc:"Number of audit records verified."`
	LastSequenceNumber int64   `json:"last_sequence_number" doc:"Sequence number of the last audit record verified."`
	HeadSequenceNumber int64   `json:"head_sequence_number" doc:"Sequence number of the last audit record of the log."`
	HeadHash           string  `json:"head_hash" doc:"Hash of the last audit record. Keep a copy elsewhere to detect later changes of the log."`
	BrokenAt           *int64  `json:"broken_at" doc:"Sequence number of the first audit record that is not intact; null if none."`
	Reason             *string `json:"reason" doc:"Why that record is not intact; null if none."`
}
