package reconciliation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Reconciliation says that somebody has compared the books of a source with what was observed up to an instant.
type Reconciliation struct {
	ID        string
	SourceID  string
	At        time.Time
	Note      string
	UserID    string
	APIKeyID  string
	CreatedAt time.Time
	Assets    []Compared
	Latest    bool // no later one of the source exists, so that it can be undone
}

// Compared is the figures of an asset, as they were when the source was reconciled and as they are now.
type Compared struct {
	AssetType    string
	ComparedAt   time.Time
	Observed     *money.Decimal
	Book         *money.Decimal
	Transactions *money.Decimal

	BookNow         *money.Decimal
	TransactionsNow *money.Decimal
}

// Difference returns what the books had less what was observed; nil if one of them was unknown.
func (c Compared) Difference() *money.Decimal { return less(c.Book, c.Observed) }

// DifferenceNow returns what the books now have at that time less what was observed.
func (c Compared) DifferenceNow() *money.Decimal { return less(c.BookNow, c.Observed) }

// Changed reports whether the books or the transactions up to that time have changed since.
func (c Compared) Changed() bool {
	return !same(c.Book, c.BookNow) || !same(c.Transactions, c.TransactionsNow)
}

// Changed reports whether any figure has changed since the source was reconciled.
func (r Reconciliation) Changed() bool { return slices.ContainsFunc(r.Assets, Compared.Changed) }

func less(a, b *money.Decimal) *money.Decimal {
	if a == nil || b == nil {
		return nil
	}
	return new(a.Sub(*b))
}

func same(a, b *money.Decimal) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// CreateParams say up to when a source is reconciled. A difference has to be accepted, with a note that says why.
type CreateParams struct {
	At               string
	Note             *string
	AcceptDifference bool
}

// Create marks a source as reconciled up to an instant.
func (s *Service) Create(ctx context.Context, sourceID string, p CreateParams) (r Reconciliation, err error) {
	note := strings.TrimSpace(db.OrEmpty(p.Note))
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		src, err := source.Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		at, err := p.validate(ctx, tx)
		if err != nil {
			return err
		}
		last, err := selectLatest(ctx, tx, src.ID)
		if err != nil {
			return err
		}
		if last != nil && !last.At.Before(at) {
			return fault.ConflictAt([]fault.Field{{Name: "at", Message: "must be later than that of the latest reconciliation"}},
				"the source is reconciled up to %s already: use a later instant, or undo that with DELETE "+
					"/v1/sources/%s/reconciliations/%s", clock.Format(last.At), src.ID, last.ID)
		}
		c, err := newComparison(ctx, tx, src)
		if err != nil {
			return err
		}
		figures, err := c.settled(ctx, tx, at, p.AcceptDifference)
		if err != nil {
			return err
		}
		who := actor.From(ctx)
		r = Reconciliation{ID: tx.NewID(id.Reconciliation), SourceID: src.ID, At: at, Note: note, UserID: who.UserID, APIKeyID: who.APIKeyID,
			CreatedAt: tx.Now(), Latest: true}
		for _, f := range figures {
			one := Compared{AssetType: f.AssetType, ComparedAt: f.ComparedAt, Book: f.Book, Transactions: f.Transactions, BookNow: f.Book,
				TransactionsNow: f.Transactions}
			if f.Observed != nil {
				one.Observed = &f.Observed.Quantity
			}
			r.Assets = append(r.Assets, one)
		}
		if err := insert(ctx, tx, r); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "reconciliation.created", ResourceType: noun, ResourceID: r.ID, After: r.facts(),
			NoEvent: true})
		return nil
	})
	return r, err
}

func (p CreateParams) validate(ctx context.Context, tx *db.Tx) (time.Time, error) {
	var faults fault.List
	at, err := instantOf(ctx, tx, "at", p.At)
	if err := faults.Merge(err); err != nil {
		return at, err
	}
	if at.After(tx.Now()) {
		faults.Addf("at", "must not be in the future, and a date means the end of that day: %s is later than now", clock.Format(at))
	}
	switch blank := strings.TrimSpace(db.OrEmpty(p.Note)) == ""; {
	case blank && p.AcceptDifference:
		faults.Addf("note", "must say why the difference is accepted")
	case blank && p.Note != nil:
		faults.Addf("note", "must not be empty")
	}
	return at, faults.Err()
}

// settled returns the figures of a source at an instant. Unless differences are accepted, it returns a conflict if there are any, or if the
// latest observed balance does not say what the source held then.
func (c *comparison) settled(ctx context.Context, tx *db.Tx, at time.Time, accepted bool) (out []Figures, err error) {
	assets, err := c.assets(ctx, tx, at)
	if err != nil {
		return nil, err
	}
	all, err := c.figures(ctx, tx, at, assets)
	if err != nil {
		return nil, err
	}
	held, err := holdings.HeldBySource(ctx, tx, c.source, at, nil)
	if err != nil {
		return nil, err
	}
	var open []string
	compared := 0
	for _, f := range all {
		if f.empty() {
			continue
		}
		out = append(out, f)
		switch d := f.Difference(); {
		case d == nil && (f.Book == nil || !f.Book.IsZero()):
			open = append(open, "it is not known whether "+f.AssetType+" agrees")
		case d == nil:
		case f.Status() == Differs:
			open = append(open, fmt.Sprintf("%s differs by %s", f.AssetType, d.Fixed(f.AssetType)))
		case !held[f.AssetType].Equal(*f.Book):
			open = append(open, fmt.Sprintf("the books of %s have changed since its latest observed balance, which is of %s", f.AssetType,
				clock.Format(f.ComparedAt)))
		}
		if f.Difference() != nil {
			compared++
		}
	}
	if compared == 0 && c.shared {
		return nil, fault.Conflictf("nothing can be compared: other sources have the ledger account of %s, so that the books cannot tell what "+
			"it holds. Give it an account of its own", c.source.Name)
	}
	if compared == 0 {
		return nil, fault.Conflictf("nothing can be compared: no balance of the source up to %s was observed. Import a file that states "+
			"balances, or enter one with POST /v1/sources/%s/observed-balances", clock.Format(at), c.source.ID)
	}
	if len(open) > 0 && !accepted {
		return nil, fault.Conflictf("the source is not reconciled at %s: %s. Look at GET /v1/sources/%s/reconciliation, or send "+
			"accept_difference with a note", clock.Format(at), strings.Join(open, "; "), c.source.ID)
	}
	return out, nil
}

// List returns a page of the reconciliations of a source, the latest first.
func (s *Service) List(ctx context.Context, sourceID string, pr page.Request) (page.Page[Reconciliation], error) {
	key := func(r Reconciliation) []string { return []string{clock.Format(r.At)} }
	return page.List("reconciliations", sourceID, pr, key, func(after []string, limit int) (rows []Reconciliation, err error) {
		var before time.Time
		if after != nil {
			if before, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			src, err := source.Find(ctx, tx, sourceID)
			if err != nil {
				return err
			}
			if rows, err = selectPage(ctx, tx, src.ID, before, limit); err != nil {
				return err
			}
			if len(rows) > 0 && after == nil {
				rows[0].Latest = true
			}
			return compareNow(ctx, tx, src, rows)
		})
		return rows, err
	})
}

// Delete undoes the latest reconciliation of a source.
func (s *Service) Delete(ctx context.Context, sourceID, reconciliationID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		src, err := source.Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		r, err := selectOne(ctx, tx, src.ID, reconciliationID)
		if err != nil {
			return err
		}
		last, err := selectLatest(ctx, tx, src.ID)
		if err != nil {
			return err
		}
		if last.ID != r.ID {
			return fault.Conflictf("only the latest reconciliation of a source can be undone, which is %s of %s: undo that first", last.ID,
				clock.Format(last.At))
		}
		if err := remove(ctx, tx, r.ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "reconciliation.deleted", ResourceType: noun, ResourceID: r.ID, Before: r.facts(),
			NoEvent: true})
		return nil
	})
}

// compareNow sets what the books and the transactions now have at the instants of some reconciliations. Assets that came up since are
// added.
func compareNow(ctx context.Context, tx *db.Tx, src source.Source, all []Reconciliation) error {
	if len(all) == 0 {
		return nil
	}
	c, err := newComparison(ctx, tx, src)
	if err != nil {
		return err
	}
	for n := range all {
		r := &all[n]
		assets, err := c.assets(ctx, tx, r.At)
		if err != nil {
			return err
		}
		for _, asset := range assets {
			if !slices.ContainsFunc(r.Assets, func(o Compared) bool { return o.AssetType == asset }) {
				r.Assets = append(r.Assets, Compared{AssetType: asset, ComparedAt: r.At, Book: new(money.Decimal),
					Transactions: new(money.Decimal)})
			}
		}
		figures := make([]Figures, len(r.Assets))
		for i, o := range r.Assets {
			figures[i] = Figures{AssetType: o.AssetType, ComparedAt: o.ComparedAt}
			if o.Observed != nil {
				figures[i].Observed = &observation.Observed{}
			}
		}
		if err := c.fill(ctx, tx, figures); err != nil {
			return err
		}
		for i, f := range figures {
			r.Assets[i].BookNow, r.Assets[i].TransactionsNow = f.Book, f.Transactions
		}
		r.Assets = slices.DeleteFunc(r.Assets, func(o Compared) bool {
			return o.Observed == nil && !o.Changed() && o.Book != nil && o.Book.IsZero() && o.Transactions != nil && o.Transactions.IsZero()
		})
	}
	return nil
}

func (r Reconciliation) facts() map[string]any {
	out := map[string]any{"source_id": r.SourceID, "at": clock.Format(r.At), "note": r.Note}
	var assets []map[string]any
	text := func(d *money.Decimal) any {
		if d == nil {
			return nil
		}
		return d.String()
	}
	for _, c := range r.Assets {
		assets = append(assets, map[string]any{"asset_type": c.AssetType, "compared_at": clock.Format(c.ComparedAt), "book": text(c.Book),
			"observed": text(c.Observed), "difference": text(c.Difference())})
	}
	out["assets"] = assets
	return out
}
