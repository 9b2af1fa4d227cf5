package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// findOtherFaults returns the faults of a request that were found when it was decoded, together with those that the use case finds in the
// rest of it, references to records that do not exist included. It runs the use case without effect for each of the inputs, which differ in
// what was put in place of the faulty values, and reports what is wrong in all of them.
func (a *API) findOtherFaults(req *http.Request, r *wire.Route, got wire.Received, inputs []any, found ...error) error {
	var faults fault.List
	for _, err := range found {
		if err := faults.Merge(err); err != nil {
			return err
		}
	}
	if len(inputs) == 0 || r.OwnTransaction {
		return faults.Err()
	}
	var common *fault.Error
	for i, in := range inputs {
		if err := got.Rewind(); err != nil {
			return err
		}
		var other *fault.Error
		if !errors.As(r.Decoder.BlameMissing(a.tryOut(req.Context(), r, in), req, got), &other) {
			return faults.Err()
		}
		if i > 0 {
			other.Fields = slices.DeleteFunc(other.Fields, func(f fault.Field) bool { return !slices.Contains(common.Fields, f) })
		}
		common = other
	}
	return r.Decoder.NameMissing(faults.With(common), req, got)
}

// tryOut runs the use case of a route without effect and returns its error.
func (a *API) tryOut(ctx context.Context, r *wire.Route, in any) error {
	run := func(ctx context.Context) error {
		if r.Check != nil {
			return r.Check(ctx, in)
		}
		_, err := r.Run(ctx, in)
		return err
	}
	if r.Reads || r.Across {
		return run(ctx)
	}
	return a.discard(ctx, run)
}

// errUnused rolls back a write that succeeded.
var errUnused = errors.New("api: the effect is not wanted")

// discard runs a write in a database transaction that is rolled back. It returns the error of the write.
func (a *API) discard(ctx context.Context, run func(context.Context) error) error {
	err := a.app.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, _ *db.Tx) error {
		if err := run(ctx); err != nil {
			return err
		}
		return errUnused
	})
	if errors.Is(err, errUnused) {
		return nil
	}
	return err
}
