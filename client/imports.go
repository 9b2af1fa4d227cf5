package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Import is the import of a file of transactions.
type Import struct {
	ID         string          `json:"id"`
	SourceID   string          `json:"source_id"`
	FileName   string          `json:"file_name"`
	Format     string          `json:"format"`
	Preset     *string         `json:"preset"`
	Mapping    json.RawMessage `json:"mapping"`
	Status     string          `json:"status"`
	Progress   ImportProgress  `json:"progress"`
	Counts     ImportCounts    `json:"counts"`
	Warnings   []ImportError   `json:"warnings"` // the first rows whose stated balance does not follow from the rows
	Error      *string         `json:"error"`
	CreatedBy  *string         `json:"created_by"`
	CreatedAt  time.Time       `json:"created_at"`
	StartedAt  *time.Time      `json:"started_at"`
	FinishedAt *time.Time      `json:"finished_at"`
	Errors     []ImportError   `json:"errors"` // the first ones; only for a single import
}

// ImportProgress is the progress of an import.
type ImportProgress struct {
	BytesRead int64 `json:"bytes_read"`
	FileSize  int64 `json:"file_size"`
	Percent   int64 `json:"percent"`
	RowsRead  int64 `json:"rows_read"`
}

// ImportCounts counts rows by outcome.
type ImportCounts struct {
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Skipped    int64 `json:"skipped"`
	FaultyRows int64 `json:"faulty_rows"`
	Errors     int64 `json:"errors"`
	Warnings   int64 `json:"warnings"`
}

// ImportError is one fault of a row.
type ImportError struct {
	Line    int64   `json:"line"`
	Column  *string `json:"column"`
	Message string  `json:"message"`
}

// ImportPreview is what an import would do.
type ImportPreview struct {
	Format    string          `json:"format"`
	Preset    *string         `json:"preset"`
	Mapping   json.RawMessage `json:"mapping"`
	Reasons   []string        `json:"reasons"`
	Undecided []string        `json:"undecided"`
	RowsRead  int64           `json:"rows_read"`
	Counts    ImportCounts    `json:"counts"`
	Rows      []struct {
		Line       int64           `json:"line"`
		Duplicate  bool            `json:"duplicate"`
		ExternalID string          `json:"external_id"`
		External   json.RawMessage `json:"external"`
	} `json:"rows"`
	Errors   []ImportError `json:"errors"`
	Warnings []ImportError `json:"warnings"`
}

// CreateImport is a file to import; the service detects what is left empty.
type CreateImport struct {
	File     io.ReadSeeker
	FileName string
	SourceID string
	Format   string
	Preset   string
	Mapping  any // is encoded as the mapping
}

func (i CreateImport) form(dry bool) (*Form, error) {
	f := &Form{File: i.File, FileName: i.FileName, Fields: url.Values{"source_id": {i.SourceID}}}
	for name, value := range map[string]string{"format": i.Format, "preset": i.Preset} {
		if value != "" {
			f.Fields.Set(name, value)
		}
	}
	if i.Mapping != nil {
		text, err := json.Marshal(i.Mapping)
		if err != nil {
			return nil, err
		}
		f.Fields.Set("mapping", string(text))
	}
	if dry {
		f.Fields.Set("dry_run", strconv.FormatBool(dry))
	}
	return f, nil
}

// CreateImport uploads a file of transactions, which is imported in the background.
func (c *Client) CreateImport(ctx context.Context, i CreateImport) (Import, error) {
	f, err := i.form(false)
	if err != nil {
		return Import{}, err
	}
	return one[Import](ctx, c, Call{Method: http.MethodPost, Path: "/v1/imports", Form: f, IdempotencyKey: NewIdempotencyKey()})
}

// PreviewImport returns what an import would do, without importing anything.
func (c *Client) PreviewImport(ctx context.Context, i CreateImport) (ImportPreview, error) {
	f, err := i.form(true)
	if err != nil {
		return ImportPreview{}, err
	}
	return one[ImportPreview](ctx, c, Call{Method: http.MethodPost, Path: "/v1/imports", Form: f, IdempotencyKey: NewIdempotencyKey()})
}

// Imports iterates over the imports, newest first. The query takes the filters of GET /v1/imports.
func (c *Client) Imports(ctx context.Context, query url.Values) iter.Seq2[Import, error] {
	return each[Import](ctx, c, "/v1/imports", query)
}

// Import returns an import with its progress.
func (c *Client) Import(ctx context.Context, id string) (Import, error) {
	return one[Import](ctx, c, Call{Method: http.MethodGet, Path: "/v1/imports/" + url.PathEscape(id)})
}

// ImportErrors iterates over the faults of an import.
func (c *Client) ImportErrors(ctx context.Context, id string) iter.Seq2[ImportError, error] {
	return each[ImportError](ctx, c, "/v1/imports/"+url.PathEscape(id)+"/errors", nil)
}
