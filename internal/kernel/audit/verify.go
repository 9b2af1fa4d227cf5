package audit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
)

// VerifySince recomputes the audit chain after a sequence number, and compares every resource that a record after it changed
// with the last record that states it. From 0 on, it also finds rows that no record states. It returns a sentence for each
// difference. If the chain is broken, it compares nothing: the log can no longer be relied on. It calls progress, if not nil,
// with the number of the records that it has read and of all that it will read.
func VerifySince(ctx context.Context, tx *db.Tx, after int64, progress func(done, total int64)) ([]string, error) {
	c := &comparison{tx: tx, found: finding.New("audit log"), rows: map[string]int64{}}
	v, err := verifyFrom(ctx, tx, after, math.MaxInt64, func(chunk []LogRecord, v Verification) error {
		if progress != nil {
			progress(v.LastSequence-after, v.HeadSequence-after)
		}
		return c.compare(ctx, chunk)
	})
	if err != nil {
		return nil, err
	}
	if v.Break != nil {
		return []string{fmt.Sprintf("audit chain broken at record %d: %s", v.Break.Sequence, v.Break.Reason)}, nil
	}
	if after == 0 {
		if err := c.findUnstated(ctx); err != nil {
			return nil, err
		}
	}
	return c.found.Messages(), nil
}

// collect notes the ids of all resources that records state.
func (c *comparison) collect(ctx context.Context) error {
	c.named = map[string]map[string]bool{}
	for after := int64(0); ; {
		chunk, err := selectAfter(ctx, c.tx, after, verifyChunk)
		if err != nil || len(chunk) == 0 {
			return err
		}
		if err := c.compare(ctx, chunk); err != nil {
			return err
		}
		after = chunk[len(chunk)-1].Sequence
	}
}

// findUnstated finds rows of resources that no record states. Their number is that of all rows less those that were compared;
// only if there are any, the log is read again to name them.
func (c *comparison) findUnstated(ctx context.Context) error {
	surplus := map[string]*db.StatedTable{}
	for i := range db.StatedTables {
		t := &db.StatedTables[i]
		n, err := countRows(ctx, c.tx, t)
		if err != nil {
			return err
		}
		if n > c.rows[t.Table] {
			surplus[t.Table] = t
		}
	}
	if len(surplus) == 0 {
		return nil
	}
	if err := c.collect(ctx); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(surplus)) {
		if err := c.nameUnstated(ctx, surplus[name]); err != nil {
			return err
		}
	}
	return nil
}

// nameUnstated names the resources of a table that no record states.
func (c *comparison) nameUnstated(ctx context.Context, t *db.StatedTable) error {
	for after := ""; ; {
		ids, err := selectIDs(ctx, c.tx, t, after, readMax)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !c.named[t.Resource][id] {
				c.found.Addf("resources that the audit log does not know", "%s has rows in %s, but no audit record states it: "+
					"it was inserted outside Bursar", resource{t.Resource, id}, t.Table)
			}
		}
		if len(ids) < readMax {
			return nil
		}
		after = ids[len(ids)-1]
	}
}
