package spam

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
)

type row struct {
	ID        string    `db:"listing_id"`
	Verdict   string    `db:"verdict"`
	Kind      string    `db:"kind"`
	Chain     string    `db:"chain"`
	Value     string    `db:"value"`
	Key       string    `db:"value_key"`
	Note      *string   `db:"note"`
	CreatedBy *string   `db:"created_by"`
	CreatedAt time.Time `db:"created_at"`
}

func (r row) listing() Listing {
	return Listing{ID: r.ID, Verdict: Verdict(r.Verdict), Kind: Kind(r.Kind), Chain: r.Chain, Value: r.Value, Note: db.OrEmpty(r.Note),
		CreatedBy: db.OrEmpty(r.CreatedBy), CreatedAt: r.CreatedAt}
}

func listingsOf(rows []row) []Listing {
	out := make([]Listing, len(rows))
	for i, r := range rows {
		out[i] = r.listing()
	}
	return out
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM spam_listings WHERE organization_id = @org"

func insert(ctx context.Context, tx *db.Tx, l Listing) error {
	return db.Insert(ctx, tx, "spam_listings", row{ID: l.ID, Verdict: string(l.Verdict), Kind: string(l.Kind), Chain: l.Chain,
		Value: l.Value, Key: l.key(), Note: db.OrNull(l.Note), CreatedBy: db.OrNull(l.CreatedBy), CreatedAt: l.CreatedAt})
}

func find(ctx context.Context, tx *db.Tx, listingID string) (Listing, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND listing_id = ?", listingID)
	return r.listing(), err
}

func remove(ctx context.Context, tx *db.Tx, listingID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM spam_listings WHERE organization_id = @org AND listing_id = ?", listingID)
	return err
}

// selectPage reads listings in the order of their ids.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, above string, limit int) ([]Listing, error) {
	q := db.Select(selectRows).And("listing_id > ?", above)
	if f.Verdict != "" {
		q.And("verdict = ?", string(f.Verdict))
	}
	if f.Kind != "" {
		q.And("kind = ?", string(f.Kind))
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY listing_id LIMIT ?", limit), q.Args...)
	return listingsOf(rows), err
}

// selectKeyed returns the listings with some keys.
func selectKeyed(ctx context.Context, tx *db.Tx, keys []string) ([]Listing, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND value_key {any}", keys)
	return listingsOf(rows), err
}

type dealingRow struct {
	Shown     string    `db:"shown"`
	Name      string    `db:"name"`
	SourceID  string    `db:"source_id"`
	CreatedAt time.Time `db:"created_at"`
}

type sightingRow struct {
	TokenHour string    `db:"token_hour"`
	SourceID  string    `db:"source_id"`
	First     time.Time `db:"first_at"`
	Last      time.Time `db:"last_at"`
}

type burstRow struct {
	Hash      string `db:"hash"`
	Token     string `db:"token"`
	SourceID  string `db:"source_id"`
	Transfers int64  `db:"transfers"`
}

func (r dealingRow) dealing() rules.Dealing {
	return rules.Dealing{Shown: r.Shown, Name: r.Name, SourceID: r.SourceID}
}

func (r burstRow) burst() rules.Burst {
	return rules.Burst{Hash: r.Hash, Token: r.Token, SourceID: r.SourceID, Transfers: int(r.Transfers)}
}

var (
	selectDealings  = "SELECT " + db.Columns[dealingRow]() + " FROM spam_dealings WHERE organization_id = @org"
	selectSightings = "SELECT " + db.Columns[sightingRow]() + " FROM spam_sightings WHERE organization_id = @org"
	selectBursts    = "SELECT " + db.Columns[burstRow]() + " FROM spam_bursts WHERE organization_id = @org"
)

// selectPast reads the history that the rules ask for, of some sources or, if they are nil, of all. It runs no query for what they do not
// ask.
func selectPast(ctx context.Context, tx *db.Tx, q rules.Lookups, sources []string) (p rules.Past, err error) {
	of := func(text, column string, keys []string) *db.Query {
		s := db.Select(text).And(column+" {any}", keys)
		if sources != nil {
			s.And("source_id {any}", sources)
		}
		return s
	}
	if len(q.Shown) > 0 {
		s := of(selectDealings, "shown", q.Shown)
		rows, err := db.All[dealingRow](ctx, tx, s.Then(""), s.Args...)
		if err != nil {
			return p, err
		}
		for _, r := range rows {
			p.Dealings = append(p.Dealings, r.dealing())
		}
	}
	if len(q.TokenHours) > 0 {
		s := of(selectSightings, "token_hour", q.TokenHours)
		rows, err := db.All[sightingRow](ctx, tx, s.Then(""), s.Args...)
		if err != nil {
			return p, err
		}
		for _, r := range rows {
			p.Sightings = append(p.Sightings, rules.Sighting(r))
		}
	}
	if len(q.Hashes) > 0 {
		s := of(selectBursts, "hash", q.Hashes)
		rows, err := db.All[burstRow](ctx, tx, s.Then(""), s.Args...)
		if err != nil {
			return p, err
		}
		for _, r := range rows {
			p.Bursts = append(p.Bursts, r.burst())
		}
	}
	return p, nil
}

// savePast stores the updated history.
func savePast(ctx context.Context, tx *db.Tx, p rules.Past) error {
	dealings := make([]dealingRow, len(p.Dealings))
	for i, d := range p.Dealings {
		dealings[i] = dealingRow{d.Shown, d.Name, d.SourceID, tx.Now()}
	}
	if err := db.Insert(ctx, tx, "spam_dealings", dealings...); err != nil {
		return err
	}
	sightings := make([]sightingRow, len(p.Sightings))
	for i, s := range p.Sightings {
		sightings[i] = sightingRow(s)
	}
	if err := db.Upsert(ctx, tx, "spam_sightings", sightings,
		"ON CONFLICT (organization_id, token_hour, source_id) DO UPDATE SET first_at = excluded.first_at, last_at = "+
			"excluded.last_at"); err != nil {
		return err
	}
	bursts := make([]burstRow, len(p.Bursts))
	for i, b := range p.Bursts {
		bursts[i] = burstRow{b.Hash, b.Token, b.SourceID, int64(b.Transfers)}
	}
	return db.Upsert(ctx, tx, "spam_bursts", bursts,
		"ON CONFLICT (organization_id, hash, token, source_id) DO UPDATE SET transfers = excluded.transfers")
}

// eachListing, eachDealing, eachSighting and eachBurst visit all rows in the order of their keys, in batches.
func eachListing(ctx context.Context, tx *db.Tx, do func(Listing, string)) error {
	return walk(func(last row) ([]row, error) {
		return db.All[row](ctx, tx, selectRows+" AND listing_id > ? ORDER BY listing_id LIMIT ?", last.ID, batchSize)
	}, func(r row) { do(r.listing(), r.Key) })
}

func eachDealing(ctx context.Context, tx *db.Tx, do func(rules.Dealing)) error {
	return walk(func(last dealingRow) ([]dealingRow, error) {
		return db.All[dealingRow](ctx, tx,
			selectDealings+" AND (shown, name, source_id) > (?, ?, ?) ORDER BY shown, name, source_id LIMIT ?", last.Shown, last.Name,
			last.SourceID, batchSize)
	}, func(r dealingRow) { do(r.dealing()) })
}

func eachSighting(ctx context.Context, tx *db.Tx, do func(rules.Sighting)) error {
	return walk(func(last sightingRow) ([]sightingRow, error) {
		return db.All[sightingRow](ctx, tx,
			selectSightings+" AND (token_hour, source_id) > (?, ?) ORDER BY token_hour, source_id LIMIT ?", last.TokenHour, last.SourceID, batchSize)
	}, func(r sightingRow) { do(rules.Sighting(r)) })
}

func eachBurst(ctx context.Context, tx *db.Tx, do func(rules.Burst)) error {
	return walk(func(last burstRow) ([]burstRow, error) {
		return db.All[burstRow](ctx, tx,
			selectBursts+" AND (hash, token, source_id) > (?, ?, ?) ORDER BY hash, token, source_id LIMIT ?", last.Hash, last.Token,
			last.SourceID, batchSize)
	}, func(r burstRow) { do(r.burst()) })
}

// batchSize is how many rows are read at a time.
const batchSize = 1000

func walk[R any](next func(last R) ([]R, error), do func(R)) error {
	var last R
	for {
		rows, err := next(last)
		if err != nil {
			return err
		}
		for _, r := range rows {
			last = r
			do(r)
		}
		if len(rows) < batchSize {
			return nil
		}
	}
}
