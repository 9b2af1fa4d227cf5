package treasury

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// Import is a file of transactions on its way in.
type Import struct {
	ID         string         `json:"id" doc:"imp_ and 26 characters"`
	SourceID   string         `json:"source_id" doc:"The source that the transactions are of"`
	FileName   string         `json:"file_name" doc:"What the file was called" example:"kraken-2026.csv"`
	Format     string         `json:"format" enum:"csv,json,ofx" doc:"What kind of file it is"`
	Preset     *string        `json:"preset" doc:"The known layout it has, such as kraken; null where it has none" example:"kraken"`
	Mapping    ImportMapping  `json:"mapping" doc:"How it is read, as it was stated or found out"`
	Status     string         `json:"status" enum:"pending,running,completed,failed" doc:"How far it is. Rows that cannot be read do not make it fail"`
	Progress   ImportProgress `json:"progress" doc:"How much of the file is dealt with"`
	Counts     ImportCounts   `json:"counts" doc:"What became of its rows so far"`
	Error      *string        `json:"error" doc:"Why it failed, and what to do; null unless it did"`
	CreatedBy  *string        `json:"created_by" doc:"The user who brought it; null for a key of nobody"`
	CreatedAt  string         `json:"created_at" format:"date-time" doc:"When it was brought"`
	StartedAt  *string        `json:"started_at" format:"date-time" doc:"When its first row was read"`
	FinishedAt *string        `json:"finished_at" format:"date-time" doc:"When it was completed or failed"`
}

// ImportDetail is an import with the first rows that could not be read.
type ImportDetail struct {
	Import
	Errors []ImportError `json:"errors" doc:"The first 100 things that are wrong with rows; GET /v1/imports/{import_id}/errors lists the others"`
}

// ImportProgress says how much of a file is dealt with.
type ImportProgress struct {
	BytesRead int64 `json:"bytes_read" minimum:"0" doc:"Bytes of the file that are dealt with"`
	FileSize  int64 `json:"file_size" minimum:"0" doc:"Bytes of the file"`
	Percent   int64 `json:"percent" minimum:"0" maximum:"100" doc:"How much that is; 100 only when it is completed"`
	RowsRead  int64 `json:"rows_read" minimum:"0" doc:"Rows that are dealt with"`
}

// ImportCounts says what became of rows.
type ImportCounts struct {
	Created    int64 `json:"created" minimum:"0" doc:"Transactions that are new; a row may tell of several"`
	Duplicates int64 `json:"duplicates" minimum:"0" doc:"Transactions that the source had already"`
	Skipped    int64 `json:"skipped" minimum:"0" doc:"Rows left out on purpose, such as a payment that was declined"`
	FaultyRows int64 `json:"faulty_rows" minimum:"0" doc:"Rows left out because something is wrong with them"`
	Errors     int64 `json:"errors" minimum:"0" doc:"All that is wrong with them; the first 10,000 are kept"`
}

// ImportError is one thing that is wrong with a row.
type ImportError struct {
	Line    int64   `json:"line" minimum:"0" doc:"The line of the file at which the row begins" example:"17"`
	Column  *string `json:"column" doc:"The column, as the file calls it; null where the row as a whole is at fault" example:"Amount"`
	Message string  `json:"message" doc:"What is wrong" example:"is not a number"`
}

// CreateImport is a form with a file of transactions.
type CreateImport struct {
	File     *wire.File     `json:"file" doc:"The file, of up to 1 GiB" example:"transactions.csv"`
	SourceID string         `json:"source_id" minLength:"1" maxLength:"64" doc:"The source that the transactions are of, or its account"`
	Format   string         `json:"format,omitempty" enum:"csv,json,ofx" doc:"What kind of file it is; found out when left out"`
	Preset   string         `json:"preset,omitempty" doc:"A known layout; found out when left out"`
	Mapping  *ImportMapping `json:"mapping,omitempty" doc:"How to read it, as JSON; guessed when left out"`
	DryRun   bool           `json:"dry_run,omitempty" doc:"Answer with what would come in, and write nothing"`
}

// TransformSchema names the layouts there are.
func (CreateImport) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range intake.PresetNames() {
		s.Properties["preset"].Enum = append(s.Properties["preset"].Enum, name)
	}
	return s
}

// ImportMapping says how a file is to be read.
type ImportMapping struct {
	Format        string        `json:"format,omitempty" enum:"csv,json,ofx" doc:"What kind of file it is"`
	Preset        string        `json:"preset,omitempty" maxLength:"64" doc:"A known layout, from which columns and directions follow" example:"kraken"`
	Encoding      string        `json:"encoding,omitempty" enum:"utf-8,utf-16le,utf-16be,windows-1252" doc:"How letters are spelled, for files without a mark that says it"`
	Delimiter     string        `json:"delimiter,omitempty" maxLength:"1" doc:"What stands between cells: a comma, a semicolon, a tab or a bar" example:";"`
	HeaderRow     int64         `json:"header_row,omitempty" minimum:"-1" maximum:"1000000" doc:"The line on which the names of the columns stand; 0 is to be found out, -1 says that there is none"`
	Columns       ImportColumns `json:"columns,omitempty" doc:"For each field the column it is in, by its name or by its number as #3"`
	DateLayouts   []string      `json:"date_layouts,omitempty" maxItems:"10" doc:"Tried in turn: such as DD/MM/YYYY HH:mm, or auto, unix, unix_ms" example:"DD.MM.YYYY"`
	TimeZone      string        `json:"time_zone,omitempty" maxLength:"64" doc:"The IANA name of the zone of times that state none; UTC when left out" example:"Europe/Berlin"`
	Decimal       string        `json:"decimal,omitempty" maxLength:"4" doc:"The decimal separator: a point, a comma or auto" example:","`
	Direction     string        `json:"direction,omitempty" enum:"sign,columns,words" doc:"How an inflow is told from an outflow"`
	InflowWords   []string      `json:"inflow_words,omitempty" maxItems:"100" doc:"What the direction column says of inflows, besides the usual words"`
	OutflowWords  []string      `json:"outflow_words,omitempty" maxItems:"100" doc:"What the direction column says of outflows, besides the usual words"`
	FlipSign      bool          `json:"flip_sign,omitempty" doc:"Amounts above zero leave the source, as on the statements of many cards"`
	AmountIs      string        `json:"amount_is,omitempty" enum:"before_fee,after_fee" doc:"Whether a fee comes on top of the amount, or is in it"`
	FeeNegative   bool          `json:"fee_negative,omitempty" doc:"Fees are written below zero"`
	Currency      string        `json:"currency,omitempty" maxLength:"100" doc:"That of every amount, where no column says it" example:"USD"`
	ValueCurrency string        `json:"value_currency,omitempty" maxLength:"100" doc:"That of every value, where no column says it" example:"USD"`
	Chain         string        `json:"chain,omitempty" maxLength:"100" doc:"That of every transaction on a chain, where no column says it"`
	BankName      string        `json:"bank_name,omitempty" maxLength:"500" doc:"The bank of every transaction, where no column says it"`
	AccountLast4  string        `json:"account_last4,omitempty" maxLength:"4" doc:"The end of the account's number, where no column says it" example:"1234"`
	IgnoreIDs     bool          `json:"ignore_ids,omitempty" doc:"Make ids of what rows say, for files whose own ids are not unique"`
}

// ImportColumns gives the columns of fields.
type ImportColumns map[string]string

// Schema lists the fields there are.
func (ImportColumns) Schema(huma.Registry) *huma.Schema {
	most := 500
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, f := range intake.Fields {
		s.Properties[string(f)] = &huma.Schema{
			Type:        huma.TypeString,
			MaxLength:   &most,
			Description: "The column of the " + strings.ReplaceAll(string(f), "_", " "),
		}
	}
	s.PrecomputeMessages()
	return s
}

// mapping is that of the reader, which has the same names.
func (m ImportMapping) mapping() (out intake.Mapping) {
	text, _ := json.Marshal(m) // texts, numbers and truth values encode
	_ = json.Unmarshal(text, &out)
	return out
}

func viewMapping(m intake.Mapping) (out ImportMapping) {
	text, _ := json.Marshal(m)
	_ = json.Unmarshal(text, &out)
	return out
}

// ImportPreview is what an import would do.
type ImportPreview struct {
	DryRun    bool                `json:"dry_run" doc:"Always true: nothing was written"`
	SourceID  string              `json:"source_id" doc:"The source that the transactions would be of"`
	Format    string              `json:"format" enum:"csv,json,ofx" doc:"What kind of file it is"`
	Preset    *string             `json:"preset" doc:"The known layout it has; null where it has none"`
	Mapping   ImportMapping       `json:"mapping" doc:"How it would be read; change what is wrong and send it along"`
	Reasons   []string            `json:"reasons" doc:"Why it would be read so, where that was guessed"`
	Undecided []string            `json:"undecided" doc:"What the file leaves open; send a mapping that settles it"`
	Columns   []ImportFileColumn  `json:"columns" doc:"The columns of the file, where its layout is not a known one"`
	RowsRead  int64               `json:"rows_read" minimum:"0" doc:"How many rows the file has"`
	Counts    ImportCounts        `json:"counts" doc:"What would become of them"`
	Rows      []ImportTransaction `json:"rows" doc:"The first 20 transactions, as they would land"`
	Errors    []ImportError       `json:"errors" doc:"The first 1,000 things that are wrong with rows"`
}

// ImportFileColumn is a column of a file.
type ImportFileColumn struct {
	Number  int64    `json:"number" doc:"Its place, from 1" example:"3"`
	Name    string   `json:"name" doc:"What the file calls it" example:"Amount"`
	Samples []string `json:"samples" doc:"Some of its values"`
}

// ImportTransaction is a transaction as it would land.
type ImportTransaction struct {
	Line             int64                          `json:"line" doc:"The line of the file at which its row begins"`
	Duplicate        bool                           `json:"duplicate" doc:"Whether the source has it already"`
	ExternalID       string                         `json:"external_id" doc:"What the source calls it"`
	External         TransactionExternal            `json:"external" doc:"What happened"`
	Crypto           wire.OrNull[TransactionCrypto] `json:"crypto" doc:"What is known of the asset and its place on a chain"`
	Bank             wire.OrNull[TransactionBank]   `json:"bank" doc:"What is known of the bank account"`
	Card             wire.OrNull[TransactionCard]   `json:"card" doc:"What is known of a payment by card"`
	ProviderCategory *string                        `json:"provider_category" doc:"The category as the platform gives it"`
	Vendor           *string                        `json:"vendor" doc:"Who was paid or who paid"`
	Memo             *string                        `json:"memo" doc:"A note"`
	TransactionType  *string                        `json:"transaction_type" doc:"What happened economically, where the file knows"`
}
