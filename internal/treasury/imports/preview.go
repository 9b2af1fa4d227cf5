package imports

import (
	"context"
	"errors"
	"io"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// previewRows is how many transactions of a file a preview shows.
	previewRows = 20
	// previewFaults is how many faults a preview shows.
	previewFaults = 1000
)

// Preview is what an import would do.
type Preview struct {
	Draft
	Rows   []PreviewRow   // the first previewRows transactions
	Faults []intake.Fault // the first previewFaults faults
	// Warnings are the first rows whose stated balance does not follow from the rows.
	Warnings []intake.Fault
	Counts   Counts
}

// PreviewRow is a transaction as it would be created.
type PreviewRow struct {
	Line      int
	Duplicate bool
	transaction.Params
}

// Preview reads a whole file without writing anything.
func (s *Service) Preview(ctx context.Context, d Draft, file io.Reader, progress func(read int64)) (Preview, error) {
	p := Preview{Draft: d}
	in, err := intake.Open(file, options(d.FileName, d.Mapping, d.Source))
	if err != nil {
		return p, asFileFault(err)
	}
	var all []PreviewRow
	balances := intake.NewBalances()
	for end := false; !end; {
		row, err := in.Next()
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return p, asFileFault(err)
		}
		if !end {
			all = p.count(row, balances, all)
		}
		if len(all) < batchRecords && !end {
			continue
		}
		if err := s.compare(ctx, &p, all); err != nil {
			return p, err
		}
		all = all[:0]
		if progress != nil {
			progress(in.Offset())
		}
	}
	return p, nil
}

// count counts a row and queues its transactions for comparison.
func (p *Preview) count(row intake.Row, balances *intake.Balances, all []PreviewRow) []PreviewRow {
	if differs := balances.Compare(row); differs != nil {
		if p.Counts.Warnings++; len(p.Warnings) < warningsKept {
			p.Warnings = append(p.Warnings, *differs)
		}
	}
	params, faults := readRow(row, p.Mapping, p.Source)
	p.Counts.Rows++
	p.Counts.Faults += int64(len(faults))
	switch {
	case len(faults) > 0:
		p.Counts.Faulty++
		p.Faults = append(p.Faults, faults[:min(len(faults), previewFaults-len(p.Faults))]...)
	case row.Skipped != "":
		p.Counts.Skipped++
	}
	for _, one := range params {
		all = append(all, PreviewRow{Line: row.Line, Params: one})
	}
	return all
}

// compare marks the transactions that exist already.
func (s *Service) compare(ctx context.Context, p *Preview, all []PreviewRow) error {
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ExternalID
	}
	var known map[string]string
	err := s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		known, err = transaction.FindByExternalID(ctx, tx, p.Source.ID, ids)
		return err
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range all {
		r.Duplicate = known[r.ExternalID] != "" || seen[r.ExternalID]
		seen[r.ExternalID] = true
		if r.Duplicate {
			p.Counts.Duplicates++
		} else {
			p.Counts.Created++
		}
		if len(p.Rows) < previewRows {
			p.Rows = append(p.Rows, r)
		}
	}
	return ctx.Err()
}
