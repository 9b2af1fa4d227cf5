package imports

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
)

// Verify finds what must not be in an organization's imports.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	rows, err := selectForVerify(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		for _, text := range r.faults() {
			out = append(out, fmt.Sprintf("import %s: %s", r.ID, text))
		}
	}
	for _, table := range []string{"import_chunks", "import_faults"} {
		ids, err := selectStrays(ctx, tx, table)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, fmt.Sprintf("%s: the import %s is not there", table, id))
		}
	}
	return out, nil
}

func (r verifyRow) faults() (out []string) {
	i, err := r.imported()
	say := func(broken bool, format string, args ...any) {
		if broken {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(err != nil, "its mapping cannot be read")
	say(err == nil && (string(i.Mapping.Format) != r.Format || i.Mapping.Preset != db.OrEmpty(r.Preset)),
		"its format or preset is not that of its mapping")
	say(r.Source == 0 && i.Status != Uploading, "its source %s is not there", r.SourceID)
	say(i.Status != Uploading && !slices.Contains(Statuses, i.Status), "it cannot be %q", r.Status)
	kept := min(r.Faults, FaultsKept)
	say(r.Kept != kept || r.Last != nil && *r.Last != kept, "%d faults are kept where %d are counted", r.Kept, r.Faults)
	say(r.Faulty > r.Faults || r.Faulty == 0 && r.Faults > 0 || r.Skipped+r.Faulty > r.Rows, "its counts contradict each other")
	say(r.Created+r.Duplicates > 0 && r.Rows == r.Skipped+r.Faulty, "transactions came from no row")
	say((i.Status == Pending || i.Status == Running) && r.Stored != r.FileSize, "%d bytes of its file are stored, which has %d",
		r.Stored, r.FileSize)
	say(r.Pieces > 0 && (i.Status == Pending || i.Status == Running) && *r.Top != r.Pieces-1, "a piece of its file is missing")
	say(i.Status == Completed && r.BytesRead != r.FileSize || r.BytesRead > r.FileSize, "%d bytes were read of %d", r.BytesRead, r.FileSize)
	say(i.Status.Ended() != (r.FinishedAt != nil), "it has ended and has no end, or the other way round")
	say((i.Status == Failed) != (r.Error != nil), "it failed and does not say why, or the other way round")
	return out
}
