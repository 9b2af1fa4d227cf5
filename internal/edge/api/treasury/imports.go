package treasury

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// importPath is the parameter of operations on one import.
type importPath struct {
	ID string `path:"import_id" minLength:"1" maxLength:"64" doc:"Identifier of the import."`
}

// createsImport holds the form of an import and, once received, the identifier of the upload.
type createsImport struct {
	Form CreateImport

	uploaded string
}

// receiveImport stores the file, or previews it on a dry run, before the database transaction that creates the import.
func (h handlers) receiveImport(ctx context.Context, in *createsImport) (*wire.Data[ImportPreview], func() error, error) {
	f := in.Form
	draft, err := h.app.Imports.Prepare(ctx, f.params(), f.File, f.DryRun)
	if err != nil {
		return nil, nil, err
	}
	if f.DryRun {
		preview, err := h.app.Imports.Preview(ctx, draft, f.File, nil)
		return new(wire.DataOf(viewPreview(preview))), nil, err
	}
	if in.uploaded, err = h.app.Imports.Upload(ctx, draft, f.File); err != nil {
		return nil, nil, err
	}
	return nil, func() error { return h.app.Imports.Discard(ctx, in.uploaded) }, nil
}

// checkImport finds the faults of an import.
func (h handlers) checkImport(ctx context.Context, in *createsImport) error {
	_, err := h.app.Imports.Prepare(ctx, in.Form.params(), in.Form.File, in.Form.DryRun)
	return err
}

// params turns a request into parameters.
func (f CreateImport) params() imports.Params {
	p := imports.Params{SourceID: f.SourceID, FileName: f.File.FileName, Format: intake.Format(f.Format), Preset: f.Preset}
	if f.Mapping != nil {
		p.Mapping = new(f.Mapping.mapping())
	}
	return p
}

func (h handlers) createImport(ctx context.Context, in *createsImport) (wire.Data[Import], error) {
	i, err := h.app.Imports.Create(ctx, in.uploaded)
	return wire.DataOf(viewImport(i)), err
}

func (h handlers) listImports(ctx context.Context, in *struct {
	wire.Paging
	SourceID string `query:"source_id" minLength:"1" maxLength:"64" doc:"Return only imports of this source, by its identifier or that of its account."`
	Status   string `query:"status" enum:"pending,running,completed,failed" doc:"Return only records with this status."`
}) (wire.List[Import], error) {
	found, err := h.app.Imports.List(ctx, imports.Filter{SourceID: in.SourceID, Status: imports.Status(in.Status)}, in.Request())
	return wire.ListOf(found, viewImport), err
}

func (h handlers) getImport(ctx context.Context, in *struct{ importPath }) (wire.Data[ImportDetail], error) {
	i, faults, err := h.app.Imports.Get(ctx, in.ID)
	return wire.DataOf(ImportDetail{viewImport(i), viewFaults(faults)}), err
}

func (h handlers) listImportErrors(ctx context.Context, in *struct {
	wire.Paging
	importPath
}) (wire.List[ImportError], error) {
	found, err := h.app.Imports.Faults(ctx, in.ID, in.Request())
	return wire.ListOf(found, func(f imports.Fault) ImportError { return viewFault(f.Fault) }), err
}

func viewImport(i imports.Import) Import {
	return Import{
		ID:         i.ID,
		SourceID:   i.SourceID,
		FileName:   i.FileName,
		Format:     string(i.Mapping.Format),
		Preset:     db.OrNull(i.Mapping.Preset),
		Mapping:    viewMapping(i.Mapping),
		Status:     string(i.Status),
		Progress:   ImportProgress{i.BytesRead, i.FileSize, i.Percent(), i.Counts.Rows},
		Counts:     viewCounts(i.Counts),
		Warnings:   viewFaults(i.Warnings),
		Error:      db.OrNull(i.Error),
		CreatedBy:  db.OrNull(i.UserID),
		CreatedAt:  wire.Timestamp(i.CreatedAt),
		StartedAt:  wire.TimestampOrNull(i.StartedAt),
		FinishedAt: wire.TimestampOrNull(i.FinishedAt),
	}
}

func viewCounts(c imports.Counts) ImportCounts {
	return ImportCounts{Created: c.Created, Duplicates: c.Duplicates, Skipped: c.Skipped, FaultyRows: c.Faulty, Errors: c.Faults,
		Warnings: c.Warnings}
}

func viewFaults(all []intake.Fault) []ImportError {
	out := make([]ImportError, len(all))
	for i, f := range all {
		out[i] = viewFault(f)
	}
	return out
}

func viewFault(f intake.Fault) ImportError {
	return ImportError{int64(f.Line), db.OrNull(f.Column), f.Message}
}

func viewPreview(p imports.Preview) ImportPreview {
	out := ImportPreview{
		DryRun:    true,
		SourceID:  p.Source.ID,
		Format:    string(p.Mapping.Format),
		Preset:    db.OrNull(p.Mapping.Preset),
		Mapping:   viewMapping(p.Mapping),
		Reasons:   wire.NonNil(p.Reasons),
		Undecided: wire.NonNil(p.Undecided),
		Columns:   make([]ImportFileColumn, len(p.Columns)),
		RowsRead:  p.Counts.Rows,
		Counts:    viewCounts(p.Counts),
		Rows:      make([]ImportTransaction, len(p.Rows)),
		Errors:    viewFaults(p.Faults),
		Warnings:  viewFaults(p.Warnings),
	}
	for i, c := range p.Columns {
		out.Columns[i] = ImportFileColumn{int64(c.Number), c.Name, wire.NonNil(c.Samples)}
	}
	for i, r := range p.Rows {
		out.Rows[i] = viewPreviewRow(p, r)
	}
	return out
}

// viewPreviewRow returns the view of a transaction that would be created.
func viewPreviewRow(p imports.Preview, r imports.PreviewRow) ImportTransaction {
	t := transaction.Transaction{
		Source:      p.Source,
		At:          r.At,
		Description: r.Description,
		Direction:   r.Direction,
		Quantity:    r.Quantity,
		Currency:    r.Currency,
		Crypto:      r.Crypto,
		Bank:        r.Bank,
		Card:        r.Card,
	}
	if v := r.Value; v != nil {
		t.Value = &transaction.Value{Gross: v.Gross, Fee: v.Fee, Currency: v.Currency}
	}
	v := viewTransaction(actor.Actor{}, t, transaction.Guidance{}) // without guidance, because it is not stored yet
	return ImportTransaction{
		Line:             int64(r.Line),
		Duplicate:        r.Duplicate,
		ExternalID:       r.ExternalID,
		External:         v.External,
		Crypto:           v.Crypto,
		Bank:             v.Bank,
		Card:             v.Card,
		ProviderCategory: db.OrNull(r.Category),
		Vendor:           db.OrNull(r.Vendor),
		Memo:             db.OrNull(r.Memo),
		TransactionType:  db.OrNull(string(r.Type)),
	}
}
