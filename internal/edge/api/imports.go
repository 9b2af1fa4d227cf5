package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// importPath is the parameter of operations on one import.
type importPath struct {
	ID string `path:"import_id" minLength:"1" maxLength:"64" doc:"The import"`
}

// createsImport is a form, and then the upload that was made of its file.
type createsImport struct {
	Form CreateImport

	uploaded string
}

// receiveImport looks at a file and stores it, or says what would come of it, before the transaction in which it becomes an import.
func (a *API) receiveImport(ctx context.Context, in *createsImport) (*Data[ImportPreview], func(), error) {
	f := in.Form
	p := imports.Params{SourceID: f.SourceID, FileName: f.File.FileName, Format: intake.Format(f.Format), Preset: f.Preset}
	if f.Mapping != nil {
		p.Mapping = new(f.Mapping.mapping())
	}
	draft, err := a.app.Imports.Prepare(ctx, p, f.File, f.DryRun)
	if err != nil {
		return nil, nil, err
	}
	if f.DryRun {
		preview, err := a.app.Imports.Preview(ctx, draft, f.File, nil)
		return &Data[ImportPreview]{viewPreview(preview)}, nil, err
	}
	if in.uploaded, err = a.app.Imports.Upload(ctx, draft, f.File); err != nil {
		return nil, nil, err
	}
	return nil, func() {
		if err := a.app.Imports.Discard(ctx, in.uploaded); err != nil { // which leaves alone what has become an import
			a.config.Log.Warn("an upload is left behind and goes in a day", "import_id", in.uploaded, "error", err)
		}
	}, nil
}

func (a *API) createImport(ctx context.Context, in *createsImport) (Data[Import], error) {
	i, err := a.app.Imports.Create(ctx, in.uploaded)
	return Data[Import]{viewImport(i)}, err
}

func (a *API) listImports(ctx context.Context, in *struct {
	paging
	SourceID string `query:"source_id" minLength:"1" maxLength:"64" doc:"Only those of this source, by its id or that of its account"`
	Status   string `query:"status" enum:"pending,running,completed,failed" doc:"Only those that are this far"`
}) (List[Import], error) {
	found, err := a.app.Imports.List(ctx, imports.Filter{SourceID: in.SourceID, Status: imports.Status(in.Status)}, in.request())
	return listOf(found, viewImport), err
}

func (a *API) getImport(ctx context.Context, in *struct{ importPath }) (Data[ImportDetail], error) {
	i, faults, err := a.app.Imports.Get(ctx, in.ID)
	return Data[ImportDetail]{ImportDetail{viewImport(i), viewFaults(faults)}}, err
}

func (a *API) listImportErrors(ctx context.Context, in *struct {
	paging
	importPath
}) (List[ImportError], error) {
	found, err := a.app.Imports.Faults(ctx, in.ID, in.request())
	return listOf(found, func(f imports.Fault) ImportError { return viewFault(f.Fault) }), err
}

func viewImport(i imports.Import) Import {
	return Import{
		ID: i.ID, SourceID: i.SourceID, FileName: i.FileName, Format: string(i.Mapping.Format), Preset: db.OrNull(
			i.Mapping.Preset), Mapping: viewMapping(i.Mapping), Status: string(i.Status),
		Progress: ImportProgress{i.BytesRead, i.FileSize, i.Percent(),
			i.Counts.Rows}, Counts: viewCounts(i.Counts), Error: db.OrNull(i.Error), CreatedBy: db.OrNull(i.UserID),
		CreatedAt: stamp(i.CreatedAt), StartedAt: stampOrNull(i.StartedAt), FinishedAt: stampOrNull(i.FinishedAt),
	}
}

func viewCounts(c imports.Counts) ImportCounts {
	return ImportCounts{Created: c.Created, Duplicates: c.Duplicates, Skipped: c.Skipped, FaultyRows: c.Faulty, Errors: c.Faults}
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
		DryRun: true, SourceID: p.Source.ID, Format: string(p.Mapping.Format), Preset: db.OrNull(p.Mapping.Preset), Mapping: viewMapping(
			p.Mapping), Reasons: listed(p.Reasons),
		Undecided: listed(p.Undecided), Columns: make([]ImportFileColumn,
			len(p.Columns)), RowsRead: p.Counts.Rows, Counts: viewCounts(p.Counts), Rows: make([]ImportTransaction,
			len(p.Rows)), Errors: viewFaults(p.Faults),
	}
	for i, c := range p.Columns {
		out.Columns[i] = ImportFileColumn{int64(c.Number), c.Name, listed(c.Samples)}
	}
	for i, r := range p.Rows {
		out.Rows[i] = viewPreviewRow(p, r)
	}
	return out
}

// viewPreviewRow shows a transaction that is not there in the words of those that are.
func viewPreviewRow(p imports.Preview, r imports.PreviewRow) ImportTransaction {
	t := transaction.Transaction{Source: p.Source, At: r.At, Description: r.Description, Direction: r.Direction, Quantity: r.Quantity,
		Currency: r.Currency, Crypto: r.Crypto, Bank: r.Bank, Card: r.Card}
	if v := r.Value; v != nil {
		t.Value = &transaction.Value{Gross: v.Gross, Fee: v.Fee, Currency: v.Currency}
	}
	v := viewTransaction("", t)
	return ImportTransaction{
		Line: int64(r.Line), Duplicate: r.Duplicate, ExternalID: r.ExternalID, External: v.External, Crypto: v.Crypto, Bank: v.Bank, Card: v.Card,
		ProviderCategory: db.OrNull(r.Category), Vendor: db.OrNull(r.Vendor), Memo: db.OrNull(r.Memo), TransactionType: db.OrNull(string(r.Type)),
	}
}
