package explain

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Query identifies one figure of one report. The names it needs depend on the report.
type Query struct {
	Report               string
	Column               string
	Row                  string // a row that is not an account
	TagID                string
	PeriodID             string
	StartDate            string
	EndDate              string
	FiscalYear           string
	AsOf                 string
	LegalEntityIDs       []string // whose books are added together
	PresentationCurrency string
	LedgerAccountID      string
	JournalEntryID       string
	JournalLineID        string
	LegalEntityID        string
	SourceID             string
	AssetType            string
	Chain                string
	TokenID              string
	AssetID              string
	DispositionID        string
	RevaluationID        string
	Kind                 string // of measurement
	CustomerID           string
	DocumentID           string // an invoice or a credit note
	Currency             string
	Bucket               string
	AgeBy                string
}

// names returns the parameters of a query with their fields.
func (q *Query) names() map[string]*string {
	return map[string]*string{
		"report": &q.Report, "column": &q.Column, "row": &q.Row, "tag_id": &q.TagID, "accounting_period_id": &q.PeriodID,
		"start_date": &q.StartDate, "end_date": &q.EndDate,
		"fiscal_year": &q.FiscalYear, "as_of": &q.AsOf, "presentation_currency": &q.PresentationCurrency, "ledger_account_id": &q.LedgerAccountID,
		"journal_entry_id": &q.JournalEntryID, "journal_line_id": &q.JournalLineID, "legal_entity_id": &q.LegalEntityID,
		"source_id": &q.SourceID, "asset_type": &q.AssetType,
		"chain": &q.Chain, "token_id": &q.TokenID, "asset_id": &q.AssetID, "disposition_id": &q.DispositionID,
		"revaluation_id": &q.RevaluationID, "kind": &q.Kind, "customer_id": &q.CustomerID, "document_id": &q.DocumentID,
		"currency": &q.Currency, "bucket": &q.Bucket, "age_by": &q.AgeBy,
	}
}

const entitiesName = "legal_entity_ids"

// given lists the names that have a value.
func (q *Query) given() (out []string) {
	for name, value := range q.names() {
		if *value != "" {
			out = append(out, name)
		}
	}
	if len(q.LegalEntityIDs) > 0 {
		out = append(out, entitiesName)
	}
	slices.Sort(out)
	return out
}

// String returns the query as a client sends it.
func (q Query) String() string {
	values := url.Values{}
	for name, value := range q.names() {
		if *value != "" {
			values.Set(name, *value)
		}
	}
	if len(q.LegalEntityIDs) > 0 {
		values.Set(entitiesName, strings.Join(q.LegalEntityIDs, ","))
	}
	return values.Encode()
}

// with returns the query with some names changed, for example "column", "closing_balance".
func (q Query) with(pairs ...string) *Query {
	for i := 0; i < len(pairs); i += 2 {
		*q.names()[pairs[i]] = pairs[i+1]
	}
	return &q
}

// spec describes how the figures of a report are identified.
type spec struct {
	columns []string // the first is the default
	needs   []string // required names; of alternatives separated by a bar, exactly one
	takes   []string // optional names
	explain func(*inquiry, context.Context) error
}

// reports lists the reports whose figures can be explained.
func reports() []string {
	out := make([]string, 0, len(specs))
	for name := range specs {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// validate collects every fault of a query, and sets the default column.
func (q *Query) validate() (spec, error) {
	s, known := specs[q.Report]
	if !known {
		return s, fault.Invalidf("report", "must be one of %s", strings.Join(reports(), ", "))
	}
	var faults fault.List
	if q.Column == "" && len(s.columns) > 0 {
		q.Column = s.columns[0]
	}
	if !slices.Contains(s.columns, q.Column) {
		faults.Addf("column", "must be one of %s", strings.Join(s.columns, ", "))
	}
	given, taken := q.given(), append([]string{"report", "column"}, s.takes...)
	for _, need := range s.needs {
		names := strings.Split(need, "|")
		taken = append(taken, names...)
		var some []string
		for _, name := range names {
			if slices.Contains(given, name) {
				some = append(some, name)
			}
		}
		switch {
		case len(some) == 0:
			faults.Addf(names[0], "is required for a figure of %s%s", q.Report, unless(names[1:]))
		case len(some) > 1:
			for i, name := range some {
				faults.Addf(name, "cannot be combined with %s", some[(i+1)%len(some)])
			}
		}
	}
	for _, name := range given {
		if !slices.Contains(taken, name) {
			faults.Addf(name, "is not used to name a figure of %s: omit it", q.Report)
		}
	}
	return s, faults.Err()
}

func unless(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", unless " + strings.Join(names, " or ") + " is sent"
}
