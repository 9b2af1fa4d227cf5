package integration

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Event reports a change. Webhook endpoints receive it in the same form.
type Event struct {
	ID             string    `json:"id" doc:"Identifier: evt_ and 26 characters."`
	Type           string    `json:"type" doc:"What happened, such as invoice.voided."`
	CreatedAt      string    `json:"created_at" format:"date-time" doc:"When it happened."`
	OrganizationID string    `json:"organization_id" doc:"Organization in which it happened."`
	Data           EventData `json:"data" doc:"The record after the change; the section webhooks of this description has the schema for each type."`
}

// ArrivedTransactions are the data of an event about transactions that arrived together.
type ArrivedTransactions struct {
	Count     int64    `json:"count" doc:"How many transactions there are."`
	First     string   `json:"first" doc:"Sequence number of the first."`
	Last      string   `json:"last" doc:"Sequence number of the last."`
	SourceIDs []string `json:"source_ids" doc:"Sources that they belong to."`
	URL       string   `json:"url" doc:"Path of the list of the transactions."`
}

// EventData is the record that an event is about, as JSON.
type EventData string

// MarshalJSON writes the record.
func (d EventData) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// Schema returns the schema of any record.
func (EventData) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
