package imports

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Verify reports violated invariants of the imports of an organization.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	rows, err := selectForVerify(ctx, tx)
	if err != nil {
		return nil, err
	}
	var sourceIDs []string
	for _, r := range rows {
		sourceIDs = append(sourceIDs, r.SourceID)
	}
	slices.Sort(sourceIDs)
	sources, err := source.FindSomeUnchecked(ctx, tx, slices.Compact(sourceIDs))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		_, exists := sources[r.SourceID]
		for _, text := range r.faults(exists) {
			out = append(out, fmt.Sprintf("import %s: %s", r.ID, text))
		}
	}
	for _, table := range []string{"import_chunks", "import_faults"} {
		ids, err := selectOrphans(ctx, tx, table)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, fmt.Sprintf("%s: rows refer to import %s, which does not exist", table, id))
		}
	}
	return out, nil
}

// faults returns the violated invariants of an import whose source exists or not.
func (r verifyRow) faults(sourceExists bool) (out []string) {
	i, err := r.imported()
	report := func(broken bool, format string, args ...any) {
		if broken {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	report(err != nil, "its mapping cannot be read")
	report(err == nil && (string(i.Mapping.Format) != r.Format || i.Mapping.Preset != db.OrEmpty(r.Preset)),
		"its format or preset differs from that of its mapping")
	report(!sourceExists && i.Status != Uploading, "its source %s does not exist", r.SourceID)
	report(i.Status != Uploading && !slices.Contains(statuses, i.Status), "its status %q is unknown", r.Status)
	kept := min(r.Faults, FaultsKept)
	report(r.Kept != kept || r.Last != nil && *r.Last != kept, "%d faults are stored, but %d are counted", r.Kept, r.Faults)
	report(r.Faulty > r.Faults || r.Faulty == 0 && r.Faults > 0 || r.Skipped+r.Faulty > r.Rows, "its counts contradict each other")
	report(r.Created+r.Duplicates > 0 && r.Rows == r.Skipped+r.Faulty, "transactions are counted, but no row yielded any")
	report((i.Status == Pending || i.Status == Running) && r.Stored != r.FileSize, "%d bytes of its file are stored, but the file has %d",
		r.Stored, r.FileSize)
	report(r.Pieces > 0 && (i.Status == Pending || i.Status == Running) && *r.Top != r.Pieces-1, "a chunk of its file is missing")
	report(i.Status == Completed && r.BytesRead != r.FileSize || r.BytesRead > r.FileSize, "%d bytes were read of %d", r.BytesRead, r.FileSize)
	report(i.Status.Ended() != (r.FinishedAt != nil), "its status and its finish time contradict each other")
	report((i.Status == Failed) != (r.Error != nil), "its status and its error message contradict each other")
	return out
}
