package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// The widths of the columns of events: nearly all types and all ids fit.
const (
	typeWidth = 28
	idWidth   = 31
)

// The properties of a record from which its summary is taken: the first of each list that the record has.
var (
	shownIDs   = []string{"id", "user_id", "path", "asset_type"}
	shownNames = []string{"invoice_number", "credit_note_number", "name", "file_name", "key", "period_key", "email", "value",
		"asset_type", "vendor", "url"}
	shownParties = []string{"customer_name", "memo", "description"}
	shownAmounts = []string{"total_amount", "quantity", "price", "amount"}
)

// describe returns the id of the record that an event is about, and a summary: its name or number, amount and status.
func describe(data json.RawMessage) (id, summary string) {
	var record map[string]any
	if json.Unmarshal(data, &record) != nil {
		return "", ""
	}
	id = first(record, shownIDs)
	if record["deleted"] == true {
		return id, "deleted"
	}
	if count, ok := record["count"].(float64); ok && first(record, []string{"url"}) != "" {
		return id, counted(int(count), "transaction")
	}
	for _, part := range []string{"external", "internal"} { // what a transaction is, and what it was made
		if of, ok := record[part].(map[string]any); ok {
			for name, value := range of {
				if _, has := record[name]; !has {
					record[name] = value
				}
			}
		}
	}
	var parts []string
	add := func(text string) {
		if text != "" && text != id {
			parts = append(parts, text)
		}
	}
	add(oneLine(first(record, shownNames)))
	add(oneLine(first(record, shownParties)))
	if amount := first(record, shownAmounts); amount != "" {
		add(strings.TrimSpace(amount + " " + first(record, []string{"currency"})))
	}
	add(first(record, []string{"status"}))
	if days, ok := record["event_retention_days"].(float64); ok {
		add(fmt.Sprintf("events are kept for %d days", int(days)))
	}
	return id, strings.Join(parts, "  ")
}

// first returns the first text that a record has under one of the names.
func first(record map[string]any, names []string) string {
	for _, name := range names {
		if text, ok := record[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// printable removes what would control a terminal: the text of a transaction comes from anybody who sends money.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
