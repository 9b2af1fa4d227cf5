package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/sealing"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// sealed lists the columns of all tables whose values are encrypted.
var sealed = slices.Concat(connection.Sealed, webhook.Sealed, identity.Sealed)

// SealedCounts is how many values of a kind are sealed under each key.
type SealedCounts struct {
	Title string
	sealing.Counts
}

// CountSealed counts what is stored encrypted, by kind, messages that wait to be sent included.
func (a *App) CountSealed(ctx context.Context) (out []SealedCounts, err error) {
	for _, c := range sealed {
		counts, err := c.Count(ctx, a.DB)
		if err != nil {
			return nil, err
		}
		out = append(out, SealedCounts{c.Title, counts})
	}
	mails, err := a.countMails(ctx)
	return append(out, SealedCounts{"messages that wait to be sent", mails}), err
}

// countMails counts messages that wait to be sent. They cannot be sealed again.
func (a *App) countMails(ctx context.Context) (sealing.Counts, error) {
	out := sealing.Counts{ByKey: map[seal.KeyID]int{}}
	err := a.DB.ReadAcross(ctx, "messages are those of all organizations", func(ctx context.Context, tx *db.Tx) error {
		waiting, err := job.Waiting(ctx, tx, mailJob{}.Kind(), "sealed")
		for text := range waiting {
			if id, ok := seal.KeyOf(text); ok {
				out.ByKey[id]++
			} else {
				out.Unsealed++
			}
		}
		return err
	})
	return out, err
}

// Rotation says how keys are rotated.
type Rotation struct {
	AddOnly  bool          // only add a key, so that the file can be copied to other nodes before the key seals
	Settle   time.Duration // how long to wait for what has been sealed under a former key, and is about to be stored
	Progress func(format string, args ...any)
}

// Rotated is what a rotation has done.
type Rotated struct {
	seal.State
	Added   bool
	Renewed int
	Removed []seal.KeyID // empty if former keys are still needed
	Waiting int          // messages that wait to be sent, for which former keys are still needed
}

// Rotate adds a key, has it seal from now on, seals what is stored under former keys again, verifies that, and removes the former keys. The
// service may run meanwhile. A rotation that was interrupted is continued.
func (a *App) Rotate(ctx context.Context, k *seal.Key, r Rotation) (out Rotated, err error) {
	if out.State, err = k.State(); err != nil {
		return out, err
	}
	if len(out.Keys) == 1 {
		if err := k.Add(); err != nil {
			return out, err
		}
		out.Added = true
	}
	if r.AddOnly {
		out.State, err = k.State()
		return out, err
	}
	if err := k.Promote(); err != nil {
		return out, err
	}
	if out.State, err = k.State(); err != nil {
		return out, err
	}
	r.Progress("The key %s seals from now on.", out.Primary)
	if out.Renewed, err = a.renew(ctx, k, r); err != nil {
		return out, err
	}
	r.Progress("Waiting %s for what is being stored ...", r.Settle)
	select {
	case <-ctx.Done():
		return out, ctx.Err()
	case <-time.After(r.Settle):
	}
	late, err := a.renew(ctx, k, r)
	if out.Renewed += late; err != nil {
		return out, err
	}
	return out, a.removeFormer(ctx, k, &out)
}

// renew seals everything that is stored under former keys again.
func (a *App) renew(ctx context.Context, k *seal.Key, r Rotation) (total int, err error) {
	for _, c := range sealed {
		n, err := c.Renew(ctx, a.DB, k)
		if total += n; err != nil {
			return total, err
		}
		if n > 0 {
			r.Progress("%s: %d sealed again", c.Title, n)
		}
	}
	return total, nil
}

// removeFormer removes the keys that nothing needs any more, after it has opened everything without them.
func (a *App) removeFormer(ctx context.Context, k *seal.Key, out *Rotated) error {
	only, err := k.Trimmed()
	if err != nil {
		return err
	}
	for _, c := range sealed {
		if err := c.Verify(ctx, a.DB, only, out.Keys); err != nil {
			return fmt.Errorf("no key was removed: %w", err)
		}
	}
	mails, err := a.countMails(ctx)
	if err != nil {
		return err
	}
	former := slices.DeleteFunc(slices.Clone(out.Keys), func(id seal.KeyID) bool { return id == out.Primary })
	for _, id := range former {
		out.Waiting += mails.ByKey[id]
	}
	if out.Waiting > 0 {
		return nil
	}
	if err := k.Trim(); err != nil {
		return err
	}
	out.Removed = former
	out.State, err = k.State()
	return err
}
