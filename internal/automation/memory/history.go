package memory

import (
	"context"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/diff"
)

// HistoryParams select the history of a path or of a rule, or a single version of it.
type HistoryParams struct {
	Path    string
	RuleID  string
	Version string
}

// VersionDiff is a version with its difference to the one before.
type VersionDiff struct {
	Version
	Diff string
}

// History returns the versions of a document or a rule, the newest first. A page ends early if its versions are large.
func (s *Service) History(ctx context.Context, p HistoryParams, r page.Request) (out page.Page[VersionDiff], err error) {
	print := page.Fingerprint("memory-history", p)
	after, err := page.Decode(print, r.Cursor, 1)
	if err != nil {
		return out, err
	}
	below := int64(0) // none
	if after != nil {
		if below, err = strconv.ParseInt(after[0], 10, 64); err != nil {
			return out, page.ErrCursor()
		}
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		item, last, err := p.item(ctx, tx)
		if err != nil {
			return err
		}
		from, limit := last, r.Limit
		if below > 0 {
			from = min(last, below-1)
		}
		if p.Version != "" {
			if from, err = strconv.ParseInt(p.Version, 10, 64); err != nil || from < 1 || from > last || versionText(from) != p.Version {
				return fault.Missing("version")
			}
			limit = 1
		}
		past, err := versionsBack(ctx, tx, item, from, limit)
		if err != nil {
			return err
		}
		out.Items = past
		if oldest := past[len(past)-1].Number; oldest > 1 && p.Version == "" {
			out.HasMore, out.NextCursor = true, page.Encode(print, versionText(oldest))
		}
		return nil
	})
	return out, err
}

// item resolves the document or rule of a history, and its last version.
func (p HistoryParams) item(ctx context.Context, tx *db.Tx) (itemID string, last int64, err error) {
	if p.RuleID == "" {
		e, err := findDocument(ctx, tx, p.Path)
		if err == nil && e.Version == 0 {
			err = fault.Missing(documentNoun)
		}
		return e.ID, e.Version, err
	}
	if last, err = selectLastVersion(ctx, tx, p.RuleID); err == nil && last == 0 {
		err = fault.Missing(ruleNoun)
	}
	return p.RuleID, last, err
}

// versionsBack reads versions downward from one, up to a number of them and up to the characters of a page.
func versionsBack(ctx context.Context, tx *db.Tx, itemID string, from int64, limit int) ([]VersionDiff, error) {
	sizes, err := selectSizes(ctx, tx, itemID, from, limit+1)
	if err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		return nil, fault.Missing("version")
	}
	size, count := sizes[0], 1
	for count < min(limit, len(sizes)) {
		if size += sizes[count]; size > charactersPerPage {
			break
		}
		count++
	}
	rows, err := selectVersions(ctx, tx, itemID, from-int64(count), from) // including the one before, for the difference
	if err != nil {
		return nil, err
	}
	out := make([]VersionDiff, min(count, len(rows)))
	for i := range out {
		v := rows[i].version()
		before, oldName, newName := "", "/dev/null", "version "+versionText(v.Number)
		if i+1 < len(rows) {
			if before = rows[i+1].Content; !rows[i+1].Deleted {
				oldName = "version " + versionText(v.Number-1)
			}
		}
		if v.Deleted {
			newName = "/dev/null"
		}
		out[i] = VersionDiff{v, diff.Unified(oldName, newName, before, v.Content)}
	}
	return out, nil
}
