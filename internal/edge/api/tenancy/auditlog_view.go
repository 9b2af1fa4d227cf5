package tenancy

import "encoding/json"

// AuditEntry is one change on the wire.
type AuditEntry struct {
	SequenceNumber int64           `json:"sequence_number" doc:"Its place in the organization's log, from 1 without gaps"`
	CreatedAt      string          `json:"created_at" format:"date-time" doc:"When it happened"`
	Action         string          `json:"action" doc:"What was done, such as organization.updated"`
	ResourceType   string          `json:"resource_type" doc:"The type of thing it was done to"`
	ResourceID     string          `json:"resource_id" doc:"The thing it was done to"`
	UserID         *string         `json:"user_id" doc:"The person who did it; null for a key of no person or the service itself"`
	APIKeyID       *string         `json:"api_key_id" doc:"The key it was done with"`
	RequestID      *string         `json:"request_id" doc:"The request it was done in"`
	Before         json.RawMessage `json:"before" doc:"What the thing said before; null when it was not there"`
	After          json.RawMessage `json:"after" doc:"What it says since; null when it is gone"`
	PreviousHash   string          `json:"previous_hash" doc:"The hash of the entry before, empty for the first"`
	Hash           string          `json:"hash" doc:"SHA-256, in hex, over this entry and the hash before"`
}

// AuditVerification is the result of recomputing the chain.
type AuditVerification struct {
	Valid              bool    `json:"valid" doc:"Whether everything checked holds"`
	Complete           bool    `json:"complete" doc:"Whether the check reached the end of the log; if not, go on with after set to last_sequence_number"`
	Checked            int64   `json:"checked" doc:"How many entries were checked"`
	LastSequenceNumber int64   `json:"last_sequence_number" doc:"The last entry that was checked"`
	HeadSequenceNumber int64   `json:"head_sequence_number" doc:"The last entry of the log"`
	HeadHash           string  `json:"head_hash" doc:"Its hash: note it elsewhere, and no later rewriting of the log can go unseen"`
	BrokenAt           *int64  `json:"broken_at" doc:"The first entry that does not hold"`
	Reason             *string `json:"reason" doc:"Why it does not"`
}
