package glsync

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// The states of what stands in a general ledger for an entry.
const (
	absent    = "absent"
	present   = "present"
	uncertain = "uncertain" // it is being changed, or nobody knows whether it was
)

// states lists the states.
var states = []string{absent, present, uncertain}

type journalRow struct {
	Book            string     `db:"book"`
	EntryID         string     `db:"journal_entry_id"`
	Part            string     `db:"part"`
	ConnectionID    string     `db:"connection_id"`
	State           string     `db:"state"`
	Revision        int64      `db:"revision"`
	ExternalID      *string    `db:"external_id"`
	ExternalNumber  *string    `db:"external_number"`
	ExternalVersion *string    `db:"external_version"`
	URL             *string    `db:"url"`
	Content         *string    `db:"content"`
	Next            *string    `db:"next"`
	Strays          *string    `db:"strays"`
	Date            string     `db:"entry_date"`
	Number          int64      `db:"number"`
	FirstAt         *time.Time `db:"first_synced_at"`
	LastAt          *time.Time `db:"last_synced_at"`
	RemovedAt       *time.Time `db:"last_unsynced_at"`
	Drift           *string    `db:"drift"`
}

// posted returns what stands in the general ledger.
func (r journalRow) posted() Posted {
	return Posted{ID: db.OrEmpty(r.ExternalID), Number: db.OrEmpty(r.ExternalNumber), Version: db.OrEmpty(r.ExternalVersion),
		URL: db.OrEmpty(r.URL), Journal: decode[Journal](db.OrEmpty(r.Content))}
}

// strays returns the journals that may stand there and are not wanted.
func (r journalRow) strays() []Journal { return decode[[]Journal](db.OrEmpty(r.Strays)) }

// gone notes that nothing stands in the general ledger any more.
func (r *journalRow) gone(at time.Time) {
	r.ExternalID, r.ExternalNumber, r.ExternalVersion, r.URL, r.Content, r.Drift, r.RemovedAt = nil, nil, nil, nil, nil, nil, &at
}

// stood notes what stands in the general ledger now.
func (r *journalRow) stood(p Posted, j Journal, at time.Time) {
	r.ExternalID, r.ExternalNumber, r.ExternalVersion, r.URL = &p.ID, db.OrNull(p.Number), db.OrNull(p.Version), db.OrNull(p.URL)
	r.Content, r.Date, r.Drift, r.LastAt = new(encode(j)), j.Date, nil, &at
	if r.FirstAt == nil {
		r.FirstAt = &at
	}
}

// settle sets the state that follows from the rest.
func (r *journalRow) settle() {
	switch {
	case r.Next != nil || r.Strays != nil:
		r.State = uncertain
	case r.ExternalID != nil:
		r.State = present
	default:
		r.State = absent
	}
}

var journalColumns = "SELECT " + db.Columns[journalRow]() + " FROM gl_journals WHERE organization_id = @org"

func selectJournals(ctx context.Context, tx *db.Tx, book string, entryIDs []string) ([]journalRow, error) {
	return db.All[journalRow](ctx, tx, journalColumns+" AND book = ? AND journal_entry_id {any} ORDER BY journal_entry_id, part", book,
		entryIDs)
}

// journalPosition is a place in the order of dates and numbers.
type journalPosition struct {
	date   string
	number int64
	part   string
}

// selectJournalsAfter reads what was sent in a range of dates, YYYY-MM-DD, of which each may be empty, after a position.
func selectJournalsAfter(ctx context.Context, tx *db.Tx, book, from, through string, after journalPosition, limit int) ([]journalRow,
	error) {
	q := db.Select(journalColumns).And("book = ?", book).And("(entry_date, number, part) > (?, ?, ?)", after.date, after.number, after.part).
		And("state <> 'absent'")
	if from != "" {
		q.And("entry_date >= ?", from)
	}
	if through != "" {
		q.And("entry_date <= ?", through)
	}
	return db.All[journalRow](ctx, tx, q.Then("ORDER BY entry_date, number, part LIMIT ?", limit), q.Args...)
}

func upsertJournals(ctx context.Context, tx *db.Tx, rows []journalRow) error {
	if len(rows) == 0 {
		return nil
	}
	return db.Upsert(ctx, tx, "gl_journals", rows, `ON CONFLICT (organization_id, book, journal_entry_id, part) DO UPDATE SET
		connection_id = excluded.connection_id, state = excluded.state, revision = excluded.revision, external_id = excluded.external_id,
		external_number = excluded.external_number, external_version = excluded.external_version, url = excluded.url,
		content = excluded.content, next = excluded.next, strays = excluded.strays, entry_date = excluded.entry_date,
		first_synced_at = excluded.first_synced_at, last_synced_at = excluded.last_synced_at, last_unsynced_at = excluded.last_unsynced_at,
		drift = excluded.drift`)
}

type markerRow struct {
	Book      string     `db:"book"`
	EntryID   string     `db:"journal_entry_id"`
	Present   bool       `db:"present"`
	FirstAt   *time.Time `db:"first_synced_at"`
	LastAt    *time.Time `db:"last_synced_at"`
	RemovedAt *time.Time `db:"last_unsynced_at"`
	Drift     *string    `db:"drift"`
}

func selectMarkers(ctx context.Context, tx *db.Tx, entryIDs []string) ([]markerRow, error) {
	return db.All[markerRow](ctx, tx, `SELECT book, journal_entry_id, external_id IS NOT NULL AS present, first_synced_at, last_synced_at,
		last_unsynced_at, drift FROM gl_journals WHERE organization_id = @org AND journal_entry_id {any}`, entryIDs)
}

const (
	attempted = " FROM gl_sync_attempts a WHERE a.organization_id = @org AND a.journal_entry_id {any} AND a.attempted_at IS NOT NULL"
	followed  = `b.organization_id = @org AND b.journal_entry_id = a.journal_entry_id AND b.attempted_at IS NOT NULL
		AND (b.attempted_at, b.gl_sync_attempt_id) > (a.attempted_at, a.gl_sync_attempt_id)`
)

// selectLatest reads the latest attempt of each of some entries.
func selectLatest(ctx context.Context, tx *db.Tx, entryIDs []string) ([]attemptRow, error) {
	return db.All[attemptRow](ctx, tx, "SELECT "+db.Columns[attemptRow]()+attempted+
		" AND NOT EXISTS (SELECT 1 FROM gl_sync_attempts b WHERE "+followed+")", entryIDs)
}

// selectLatestOfParts reads the latest attempt of a connection for each part of the entries of some attempts.
func selectLatestOfParts(ctx context.Context, tx *db.Tx, connectionID string, of []Attempt) (map[entryPart]Attempt, error) {
	ids := make([]string, len(of))
	for n, a := range of {
		ids[n] = a.EntryID
	}
	rows, err := db.All[attemptRow](ctx, tx, "SELECT "+db.Columns[attemptRow]()+attempted+" AND a.connection_id = ?"+
		" AND NOT EXISTS (SELECT 1 FROM gl_sync_attempts b WHERE "+followed+" AND b.connection_id = a.connection_id AND b.part = a.part)",
		ids, connectionID)
	out := make(map[entryPart]Attempt, len(rows))
	for _, r := range rows {
		out[entryPart{r.EntryID, r.Part}] = r.attempt()
	}
	return out, err
}

// foundRow is an entry of a kind that a readiness check has found.
type foundRow struct {
	ID     string `db:"journal_entry_id"`
	Number int64  `db:"number"`
	Bad    bool   `db:"bad"`   // an amount has too many decimals
	Total  int64  `db:"total"` // how many there are of the kind
}

// ofPeriod are the entries that are posted in a period and have a line of a legal entity. Its arguments are those of periodArgs. The two
// ranges are read separately, because each has an index, and their alternative has none.
const ofPeriod = `SELECT e.journal_entry_id, e.number FROM journal_entries e WHERE e.organization_id = @org AND e.legal_entity_id = ?
		AND e.accounting_date >= ? AND e.accounting_date < ? AND e.accounting_date > ? AND e.accounting_period_id = ? AND e.status = 'posted'
	UNION ALL SELECT e.journal_entry_id, e.number FROM journal_shares s JOIN journal_entries e ON e.organization_id = s.organization_id
		AND e.journal_entry_id = s.journal_entry_id WHERE s.organization_id = @org AND s.legal_entity_id = ? AND s.accounting_date >= ?
		AND s.accounting_date < ? AND s.accounting_date > ? AND e.accounting_period_id = ? AND e.status = 'posted'`

func periodArgs(p period.Period, legalEntityID string) []any {
	of := []any{legalEntityID, p.Start, p.End, period.OpeningDate, p.ID}
	return append(of, of...)
}

// selectUnsent reads the first of the posted entries of a legal entity in a period that have a value and are in none of some general
// ledgers, and the first of those among them that cannot be sent, because a line of theirs has an amount with too many decimals: these are
// given as patterns with legal entities. Only what was sent in full, or for the legal entity, counts.
func selectUnsent(ctx context.Context, tx *db.Tx, p period.Period, legalEntityID string, books []string, tooFine map[string][]string,
	limit int) ([]foundRow, error) {
	var bad []string
	var args []any
	for _, pattern := range slices.Sorted(maps.Keys(tooFine)) {
		bad = append(bad, "(l.legal_entity_id {any} AND rtrim(CAST(l.base_amount AS TEXT), '0') LIKE ?)")
		args = append(args, tooFine[pattern], pattern)
	}
	args = append(append(args, periodArgs(p, legalEntityID)...), books, legalEntityID, legalEntityID, limit)
	return db.All[foundRow](ctx, tx, `SELECT journal_entry_id, number, bad, total FROM (SELECT journal_entry_id, number, bad,
		count(*) OVER (PARTITION BY bad) AS total, row_number() OVER (PARTITION BY bad ORDER BY number) AS place FROM (
			SELECT e.journal_entry_id, e.number, EXISTS (SELECT 1 FROM journal_lines l WHERE l.organization_id = @org
				AND l.journal_entry_id = e.journal_entry_id AND (`+strings.Join(bad, " OR ")+`)) AS bad FROM (`+ofPeriod+`) AS e
			WHERE NOT EXISTS (SELECT 1 FROM gl_journals j WHERE j.organization_id = @org AND j.journal_entry_id = e.journal_entry_id
				AND j.book {any} AND j.part IN ('', ?) AND j.external_id IS NOT NULL)
			AND EXISTS (SELECT 1 FROM journal_lines l WHERE l.organization_id = @org AND l.journal_entry_id = e.journal_entry_id
				AND l.legal_entity_id = ? AND l.base_amount <> 0)) AS unsent) AS numbered
		WHERE place <= ? ORDER BY number`, args...)
}

// selectDrifted reads the first of the posted entries of a legal entity in a period that a check found to differ in one of some general
// ledgers, and how many there are.
func selectDrifted(ctx context.Context, tx *db.Tx, p period.Period, legalEntityID string, books []string, limit int) ([]foundRow, error) {
	return db.All[foundRow](ctx, tx, `SELECT e.journal_entry_id, e.number, false AS bad, count(*) OVER () AS total FROM journal_entries e
		WHERE e.organization_id = @org AND e.journal_entry_id IN (SELECT j.journal_entry_id FROM gl_journals j WHERE j.organization_id = @org
			AND j.book {any} AND j.part IN ('', ?) AND j.external_id IS NOT NULL AND j.drift IS NOT NULL)
		AND e.accounting_date >= ? AND e.accounting_date < ? AND e.accounting_date > ? AND e.accounting_period_id = ? AND e.status = 'posted'
		AND (e.legal_entity_id = ? OR EXISTS (SELECT 1 FROM journal_shares s WHERE s.organization_id = @org
			AND s.journal_entry_id = e.journal_entry_id AND s.legal_entity_id = ?))
		ORDER BY e.number LIMIT ?`, books, legalEntityID, p.Start, p.End, period.OpeningDate, p.ID, legalEntityID, legalEntityID, limit)
}
