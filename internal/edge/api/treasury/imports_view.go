package treasury

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// Import is the import of a file of transactions.
type Import struct {
	ID         string         `json:"id" doc:"Identifier: imp_ and 26 characters."`
	SourceID   string         `json:"source_id" doc:"Source of the transactions."`
	FileName   string         `json:"file_name" doc:"Name of the file." example:"kraken-2026.csv"`
	Format     string         `json:"format" enum:"csv,json,ofx" doc:"File format."`
	Preset     *string        `json:"preset" doc:"Known layout, such as kraken; null if none." example:"kraken"`
	Mapping    ImportMapping  `json:"mapping" doc:"How the file is read, as given or detected."`
	Status     string         `json:"status" enum:"pending,running,completed,failed" doc:"Status. Rows with errors do not make the import fail."`
	Progress   ImportProgress `json:"progress" doc:"Progress of the import."`
	Counts     ImportCounts   `json:"counts" doc:"Counts of rows so far."`
	Warnings   []ImportError  `json:"warnings" doc:"First 20 rows whose balance, as the file states it, does not follow from the rows: rows are missing, or a fee is read wrongly."`
	Error      *string        `json:"error" doc:"Why it failed and what to do next; null if it did not fail."`
	CreatedBy  *string        `json:"created_by" doc:"User who created the import; null if the API key belongs to no user."`
	CreatedAt  string         `json:"created_at" format:"date-time" doc:"When the import was created."`
	StartedAt  *string        `json:"started_at" format:"date-time" doc:"When the first row was read; null if it has not started."`
	FinishedAt *string        `json:"finished_at" format:"date-time" doc:"When the import completed or failed; null before that."`
}

// ImportDetail is an import with its first errors.
type ImportDetail struct {
	Import
	Errors []ImportError `json:"errors" doc:"First 100 errors. GET /v1/imports/{import_id}/errors lists all of them."`
}

// ImportProgress is the progress of an import.
type ImportProgress struct {
	BytesRead int64 `json:"bytes_read" minimum:"0" doc:"Bytes processed."`
	FileSize  int64 `json:"file_size" minimum:"0" doc:"Size of the file in bytes."`
	Percent   int64 `json:"percent" minimum:"0" maximum:"100" doc:"Progress in percent; 100 only when completed."`
	RowsRead  int64 `json:"rows_read" minimum:"0" doc:"Rows processed."`
}

// ImportCounts counts rows by result.
type ImportCounts struct {
	Created    int64 `json:"created" minimum:"0" doc:"Number of new transactions. A row may contain several."`
	Duplicates int64 `json:"duplicates" minimum:"0" doc:"Number of transactions that the source already had."`
	Skipped    int64 `json:"skipped" minimum:"0" doc:"Number of rows skipped on purpose, such as declined payments."`
	FaultyRows int64 `json:"faulty_rows" minimum:"0" doc:"Number of rows skipped because of errors."`
	Errors     int64 `json:"errors" minimum:"0" doc:"Number of errors. The first 10,000 are stored."`
	Warnings   int64 `json:"warnings" minimum:"0" doc:"Number of rows whose balance, as the file states it, does not follow from the rows."`
}

// ImportError is an error of a row.
type ImportError struct {
	Line    int64   `json:"line" minimum:"0" doc:"Line of the file on which the row begins." example:"17"`
	Column  *string `json:"column" doc:"Name of the column in the file; null if the error concerns the whole row." example:"Amount"`
	Message string  `json:"message" doc:"What is wrong." example:"is not a number"`
}

// CreateImport is a form with a file of transactions.
type CreateImport struct {
	File     *wire.File     `json:"file" doc:"The file; at most 1 GiB." example:"transactions.csv"`
	SourceID string         `json:"source_id" minLength:"1" maxLength:"64" doc:"Source of the transactions, by its identifier or that of its account."`
	Format   string         `json:"format,omitempty" enum:"csv,json,ofx" doc:"File format. Detected if omitted."`
	Preset   string         `json:"preset,omitempty" doc:"Known layout. Detected if omitted."`
	Mapping  *ImportMapping `json:"mapping,omitempty" doc:"How to read the file, as JSON. Guessed if omitted."`
	DryRun   bool           `json:"dry_run,omitempty" doc:"If true, return what would be imported without writing anything. Defaults to false."`
}

// TransformSchema lists the known layouts.
func (CreateImport) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range intake.PresetNames() {
		s.Properties["preset"].Enum = append(s.Properties["preset"].Enum, name)
	}
	return s
}

// ImportMapping describes how a file is read.
type ImportMapping struct {
	Format        string        `json:"format,omitempty" enum:"csv,json,ofx" doc:"File format."`
	Preset        string        `json:"preset,omitempty" maxLength:"64" doc:"Known layout that determines columns and directions." example:"kraken"`
	Encoding      string        `json:"encoding,omitempty" enum:"utf-8,utf-16le,utf-16be,windows-1252" doc:"Character encoding of files without a byte order mark."`
	Delimiter     string        `json:"delimiter,omitempty" maxLength:"1" doc:"Separator between cells: comma, semicolon, tab or vertical bar." example:";"`
	HeaderRow     int64         `json:"header_row,omitempty" minimum:"-1" maximum:"1000000" doc:"Line with the column names. 0: detect. -1: there is none."`
	Columns       ImportColumns `json:"columns,omitempty" doc:"Column of each field, by its name or by its number such as #3."`
	DateLayouts   []string      `json:"date_layouts,omitempty" maxItems:"10" doc:"Date formats, tried in order, such as DD/MM/YYYY HH:mm, auto, unix or unix_ms." example:"DD.MM.YYYY"`
	TimeZone      string        `json:"time_zone,omitempty" maxLength:"64" doc:"IANA time zone of times that state none. Defaults to UTC." example:"Europe/Berlin"`
	Decimal       string        `json:"decimal,omitempty" maxLength:"4" doc:"Decimal separator: a point, a comma or auto." example:","`
	Direction     string        `json:"direction,omitempty" enum:"sign,columns,words" doc:"How inflows and outflows are told apart: by sign, by separate columns or by words."`
	InflowWords   []string      `json:"inflow_words,omitempty" maxItems:"100" doc:"Words for inflows in the direction column, in addition to the usual ones."`
	OutflowWords  []string      `json:"outflow_words,omitempty" maxItems:"100" doc:"Words for outflows in the direction column, in addition to the usual ones."`
	FlipSign      bool          `json:"flip_sign,omitempty" doc:"If true, positive amounts are outflows, as on many card statements. Defaults to false."`
	AmountIs      string        `json:"amount_is,omitempty" enum:"before_fee,after_fee" doc:"before_fee: the fee is in addition to the amount. after_fee: the amount includes the fee."`
	FeeNegative   bool          `json:"fee_negative,omitempty" doc:"If true, fees are negative numbers. Defaults to false."`
	Currency      string        `json:"currency,omitempty" maxLength:"100" doc:"Currency of all amounts, if no column has it." example:"USD"`
	ValueCurrency string        `json:"value_currency,omitempty" maxLength:"100" doc:"Currency of all values, if no column has it." example:"USD"`
	Chain         string        `json:"chain,omitempty" maxLength:"100" doc:"Blockchain of all transactions, if no column has it."`
	BankName      string        `json:"bank_name,omitempty" maxLength:"500" doc:"Bank of all transactions, if no column has it."`
	AccountLast4  string        `json:"account_last4,omitempty" maxLength:"4" doc:"Last four digits of the account number, if no column has them." example:"1234"`
	IgnoreIDs     bool          `json:"ignore_ids,omitempty" doc:"If true, derive identifiers from the content of rows, for files whose own identifiers are not unique. Defaults to false."`
}

// ImportColumns holds the column of each field.
type ImportColumns map[string]string

// columnWords describes the fields whose names do not describe themselves.
var columnWords = map[intake.Field]string{
	intake.FieldID:               "identifier of the transaction",
	intake.FieldTimestamp:        "date, or of the date and time",
	intake.FieldTime:             "time of day, if it is not in that of the date",
	intake.FieldNet:              "amount after the fee",
	intake.FieldBalance:          "balance after the transaction, which is compared with the rows",
	intake.FieldFeeCurrency:      "asset or currency of the fee",
	intake.FieldValueGross:       "value before the fee",
	intake.FieldValueFee:         "value of the fee",
	intake.FieldValueNet:         "value after the fee",
	intake.FieldValueCurrency:    "currency of the value",
	intake.FieldProviderCategory: "category given by the provider",
	intake.FieldGroup:            "identifier that the rows of one transaction share",
	intake.FieldChain:            "blockchain",
	intake.FieldFrom:             "address of the sender",
	intake.FieldTo:               "address of the recipient",
	intake.FieldContract:         "contract of the token",
	intake.FieldTokenID:          "token identifier of an NFT",
	intake.FieldBankName:         "name of the bank",
	intake.FieldAccount:          "account number",
	intake.FieldCardholder:       "name of the cardholder",
	intake.FieldCardLast4:        "last four digits of the card number",
	intake.FieldType:             "transaction type",
}

// Schema lists the fields.
func (ImportColumns) Schema(huma.Registry) *huma.Schema {
	return wire.ColumnsSchema(intake.Fields, columnWords)
}

// mapping converts to the type of the reader, which has the same names.
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

// ImportPreview is the result of a dry run.
type ImportPreview struct {
	DryRun    bool                `json:"dry_run" doc:"Always true: nothing was written."`
	SourceID  string              `json:"source_id" doc:"Source that the transactions would belong to."`
	Format    string              `json:"format" enum:"csv,json,ofx" doc:"File format."`
	Preset    *string             `json:"preset" doc:"Known layout; null if none."`
	Mapping   ImportMapping       `json:"mapping" doc:"How the file would be read. Correct what is wrong and send it with the import."`
	Reasons   []string            `json:"reasons" doc:"Reasons for what was guessed, in sentences."`
	Undecided []string            `json:"undecided" doc:"What the file leaves open. Send a mapping that decides it."`
	Columns   []ImportFileColumn  `json:"columns" doc:"Columns of the file, unless its layout is a known one."`
	RowsRead  int64               `json:"rows_read" minimum:"0" doc:"Number of rows of the file."`
	Counts    ImportCounts        `json:"counts" doc:"Counts of rows as they would be."`
	Rows      []ImportTransaction `json:"rows" doc:"First 20 transactions as they would be created."`
	Errors    []ImportError       `json:"errors" doc:"First 1,000 errors."`
	Warnings  []ImportError       `json:"warnings" doc:"First 20 rows whose balance, as the file states it, does not follow from the rows: rows are missing, or a fee is read wrongly."`
}

// ImportFileColumn is a column of a file.
type ImportFileColumn struct {
	Number  int64    `json:"number" doc:"Number of the column, from 1." example:"3"`
	Name    string   `json:"name" doc:"Name of the column in the file." example:"Amount"`
	Samples []string `json:"samples" doc:"Some of its values."`
}

// ImportTransaction is a transaction as it would be created.
type ImportTransaction struct {
	Line             int64                          `json:"line" doc:"Line of the file on which the row begins."`
	Duplicate        bool                           `json:"duplicate" doc:"Whether the source already has the transaction."`
	ExternalID       string                         `json:"external_id" doc:"Identifier of the transaction at the source."`
	External         TransactionExternal            `json:"external" doc:"What happened."`
	Crypto           wire.OrNull[TransactionCrypto] `json:"crypto" doc:"Details of a blockchain or exchange transaction; null if none."`
	Bank             wire.OrNull[TransactionBank]   `json:"bank" doc:"Details of a bank transaction; null if none."`
	Card             wire.OrNull[TransactionCard]   `json:"card" doc:"Details of a card payment; null if none."`
	ProviderCategory *string                        `json:"provider_category" doc:"Category given by the provider; null if none."`
	Vendor           *string                        `json:"vendor" doc:"Counterparty; null if unknown."`
	Memo             *string                        `json:"memo" doc:"Memo; null if none."`
	TransactionType  *string                        `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type, if the file contains it; null otherwise."`
}
