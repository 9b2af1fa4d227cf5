// Package invoicefile imports files of invoices, such as the exports of accounting programs and payment processors.
//
// Rows with the same number are the lines of one invoice. An invoice with a fault is left out as a whole, and the fault names the line and
// the column; the others are created. An invoice that exists with the same content is not created again, so that a file can be imported
// again after its faults are corrected, or after an interruption. Package intake reads the files.
package invoicefile

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Limits of a file.
const (
	// FileMax is the maximum size of a file in bytes.
	FileMax = 32 << 20
	// rowsMax is how many rows a file may have.
	rowsMax = 50_000
	// batch is how many invoices are created in one database transaction.
	batch = 500
	// faultsShown is how many faults are returned; all are counted.
	faultsShown = 1000
	// invoicesShown is how many invoices are returned.
	invoicesShown = 20
)

// Params describe a file and how its invoices are created.
type Params struct {
	FileName      string
	Mapping       *intake.InvoiceMapping // nil: detected
	LegalEntityID string                 // of the rows that name none; empty: the only one
	AccountID     string                 // of the lines that name no ledger account
	TaxAccountID  string                 // of the taxes of lines that name no ledger account
	Status        invoice.Status         // draft or open
	ExistingOnly  bool                   // a customer that does not exist is a fault, and not created
	DryRun        bool                   // write nothing
}

// Result is what was imported, or would be.
type Result struct {
	intake.InvoiceFile
	DryRun   bool
	Counts   Counts
	Invoices []Imported // the first ones
	Faults   []intake.Fault
	notes    []note
}

// Counts counts invoices, unless they say otherwise.
type Counts struct {
	Rows       int64 // of the file
	Created    int64
	Duplicates int64 // that exist already, with the same content
	Skipped    int64 // that are void or paid according to the file, and documents that are no invoices
	Faulty     int64
	Faults     int64
	Customers  int64 // customers that were created
}

// Imported is an invoice of the file.
type Imported struct {
	Line int
	invoice.Outcome
}

// Service imports files.
type Service struct {
	db       *db.DB
	invoices *invoice.Service
}

// NewService returns a service that creates invoices.
func NewService(d *db.DB, invoices *invoice.Service) *Service { return &Service{d, invoices} }

// Import creates the invoices of a file, a few hundred in one database transaction, or says what it would create.
func (s *Service) Import(ctx context.Context, p Params, file io.Reader) (Result, error) {
	out := Result{DryRun: p.DryRun}
	var faults fault.List
	entities, err := s.validate(ctx, p, &faults)
	if err != nil {
		return out, err
	}
	var m intake.InvoiceMapping
	if p.Mapping != nil {
		m = *p.Mapping
	}
	if out.InvoiceFile, err = intake.ReadInvoices(p.FileName, file, m, rowsMax); err != nil && fault.KindOf(err) != fault.Invalid {
		err = fault.Invalidf("file", "cannot be read: %v", err)
	}
	if other := faults.Merge(err); other != nil {
		return out, other
	}
	if err := faults.Err(); err != nil {
		return out, err
	}
	out.Counts.Rows = int64(len(out.Rows))
	groups := out.group(p, entities)
	for _, some := range slices.Collect(slices.Chunk(groups, batch)) {
		if err := s.importSome(ctx, &out, p, some); err != nil {
			return out, err
		}
	}
	out.count(groups)
	return out, nil
}

// validate adds the faults of the parameters, and returns the legal entities by their names and ids.
func (s *Service) validate(ctx context.Context, p Params, faults *fault.List) (entities map[string]string, err error) {
	if p.Status != invoice.Draft && p.Status != invoice.Open {
		faults.Addf("status", "must be draft or open")
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		entities = entityNames(ctx, b)
		if _, there := b.Entities[p.LegalEntityID]; p.LegalEntityID != "" && (!there || !actor.From(ctx).Sees(p.LegalEntityID)) {
			faults.AddMissing("legal entity", "legal_entity_id")
		}
		foreign, err := source.ForeignAccounts(ctx, tx, []string{p.AccountID, p.TaxAccountID})
		if err != nil {
			return err
		}
		for field, id := range map[string]string{"ledger_account_id": p.AccountID, "tax_ledger_account_id": p.TaxAccountID} {
			if a, there := b.Accounts[id]; id != "" && (!there || foreign[id] || account.IsControl(a.Role)) {
				faults.AddMissing("ledger account", field)
			}
		}
		return nil
	})
	return entities, err
}

// errUndo rolls a database transaction back whose result is all that is wanted.
var errUndo = errors.New("undo")

// importSome creates some invoices. It first tries all of them and undoes that, to find those with faults: then nothing is left of what was
// created for them, such as a customer.
func (s *Service) importSome(ctx context.Context, out *Result, p Params, groups []*group) error {
	created := int64(0)
	try := func(ctx context.Context, tx *db.Tx) (err error) {
		created, err = s.create(ctx, tx, out, p, slices.DeleteFunc(slices.Clone(groups), (*group).settled))
		if err == nil {
			err = errUndo
		}
		return err
	}
	organizationID := actor.From(ctx).OrganizationID
	if err := s.db.WriteAlone(ctx, organizationID, try); !errors.Is(err, errUndo) {
		return err
	}
	if p.DryRun {
		out.Counts.Customers += created
		return nil
	}
	wanted := slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return g.settled() || g.outcome.Duplicate })
	if len(wanted) == 0 {
		return nil
	}
	err := s.db.WriteAlone(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		created, err = s.create(ctx, tx, out, p, wanted)
		return err
	})
	out.Counts.Customers += created
	return err
}

// count adds up what became of the invoices.
func (r *Result) count(groups []*group) {
	for _, g := range groups {
		switch {
		case len(g.faults) > 0:
			r.Counts.Faulty++
		case g.skipped:
			r.Counts.Skipped++
		case g.outcome.Duplicate:
			r.Counts.Duplicates++
		default:
			r.Counts.Created++
		}
		r.Counts.Faults += int64(len(g.faults))
		r.Faults = append(r.Faults, g.faults[:min(len(g.faults), faultsShown-len(r.Faults))]...)
		if len(g.faults) == 0 && !g.skipped && len(r.Invoices) < invoicesShown {
			r.Invoices = append(r.Invoices, Imported{g.rows[0].Line, g.outcome})
		}
	}
	slices.SortStableFunc(r.Faults, func(a, b intake.Fault) int { return a.Line - b.Line })
}
