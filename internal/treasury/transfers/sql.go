package transfers

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

type linkRow struct {
	TransactionID string         `db:"transaction_id"`
	GroupID       string         `db:"group_id"`
	Side          string         `db:"side"`
	Kind          string         `db:"kind"`
	By            string         `db:"matched_by"`
	Shortfall     *money.Decimal `db:"shortfall"`
	TypeBefore    *string        `db:"type_before"`
	CreatedBy     *string        `db:"created_by"`
	CreatedAt     time.Time      `db:"created_at"`
}

func (r linkRow) link() Link {
	return Link{TransactionID: r.TransactionID, GroupID: r.GroupID, Side: Side(r.Side), Kind: transfer.Kind(r.Kind),
		By: transfer.Evidence(r.By), Shortfall: r.Shortfall, TypeBefore: transaction.Type(db.OrEmpty(r.TypeBefore)),
		CreatedBy: db.OrEmpty(r.CreatedBy), CreatedAt: r.CreatedAt}
}

var selectLinks = "SELECT " + db.Columns[linkRow]() + " FROM transaction_links WHERE organization_id = @org"

func insertLinks(ctx context.Context, tx *db.Tx, links []Link) error {
	rows := make([]linkRow, len(links))
	for i, l := range links {
		rows[i] = linkRow{TransactionID: l.TransactionID, GroupID: l.GroupID, Side: string(l.Side), Kind: string(l.Kind),
			By: string(l.By), Shortfall: l.Shortfall, TypeBefore: db.OrNull(string(l.TypeBefore)), CreatedBy: db.OrNull(l.CreatedBy),
			CreatedAt: l.CreatedAt}
	}
	return db.Insert(ctx, tx, "transaction_links", rows...)
}

func selectGroups(ctx context.Context, tx *db.Tx, groupIDs []string) ([]Link, error) {
	rows, err := db.All[linkRow](ctx, tx, selectLinks+" AND group_id {any} ORDER BY group_id, side DESC", groupIDs)
	out := make([]Link, len(rows))
	for i, r := range rows {
		out[i] = r.link()
	}
	return out, err
}

// CountPendingBeyond counts the transactions of some sources from start until end that are pending and linked to a transaction of a legal
// entity outside the actor's key. It is a building block.
func CountPendingBeyond(ctx context.Context, tx *db.Tx, start, end time.Time, sourceIDs []string) (int64, error) {
	who := actor.From(ctx)
	if !who.Limited() || len(sourceIDs) == 0 {
		return 0, nil
	}
	visible, err := source.IDsOfEntities(ctx, tx, who.LegalEntityIDs)
	if err != nil {
		return 0, err
	}
	return db.One[int64](ctx, tx, "count", `SELECT count(*) FROM transactions t
		JOIN transaction_links l ON l.organization_id = t.organization_id AND l.group_id = t.group_id AND l.transaction_id <> t.transaction_id
		JOIN transactions o ON o.organization_id = l.organization_id AND o.transaction_id = l.transaction_id
		WHERE t.organization_id = @org AND t.visibility = 0 AND t.status = 'pending' AND t.transaction_date >= ? AND t.transaction_date < ?
		AND t.source_id {any} AND NOT (o.source_id {any})`, start, end, sourceIDs, visible)
}

func removeLinks(ctx context.Context, tx *db.Tx, groupIDs []string) error {
	_, err := tx.Exec(ctx, "DELETE FROM transaction_links WHERE organization_id = @org AND group_id {any}", groupIDs)
	return err
}

type refusalRow struct {
	Out       string    `db:"out_id"`
	In        string    `db:"in_id"`
	CreatedAt time.Time `db:"created_at"`
}

// insertRefusals stores pairs that do not belong together. A pair that was refused before gets the new time, so that the audit record
// states what is stored.
func insertRefusals(ctx context.Context, tx *db.Tx, rows []refusalRow) error {
	return db.Upsert(ctx, tx, "transfer_refusals", rows,
		"ON CONFLICT (organization_id, out_id, in_id) DO UPDATE SET created_at = excluded.created_at")
}

// selectRefusals returns the pairs that people unlinked, by the outflow.
func selectRefusals(ctx context.Context, tx *db.Tx) (map[string][]string, error) {
	rows, err := db.All[refusalRow](ctx, tx,
		"SELECT out_id, in_id, created_at FROM transfer_refusals WHERE organization_id = @org ORDER BY out_id, in_id")
	out := make(map[string][]string, len(rows))
	for _, r := range rows {
		out[r.Out] = append(out[r.Out], r.In)
	}
	return out, err
}

type ambiguityRow struct {
	TransactionID string    `db:"transaction_id"`
	Number        int64     `db:"number"`
	SourceID      string    `db:"source_id"`
	At            time.Time `db:"transaction_date"`
	Candidates    string    `db:"candidates"`
	Why           string    `db:"why"`
	FoundAt       time.Time `db:"found_at"`
}

func ambiguitiesOf(rows []ambiguityRow) []Ambiguity {
	out := make([]Ambiguity, len(rows))
	for i, r := range rows {
		out[i] = Ambiguity{TransactionID: r.TransactionID, Number: r.Number, SourceID: r.SourceID, At: r.At,
			Candidates: strings.Fields(r.Candidates), Why: r.Why, FoundAt: r.FoundAt}
	}
	return out
}

func insertAmbiguities(ctx context.Context, tx *db.Tx, all []Ambiguity) error {
	rows := make([]ambiguityRow, len(all))
	for i, a := range all {
		rows[i] = ambiguityRow{TransactionID: a.TransactionID, Number: a.Number, SourceID: a.SourceID, At: a.At,
			Candidates: strings.Join(a.Candidates, " "), Why: a.Why, FoundAt: a.FoundAt}
	}
	return db.Insert(ctx, tx, "transfer_ambiguities", rows...)
}

func removeAmbiguities(ctx context.Context, tx *db.Tx, transactionIDs []string) error {
	if len(transactionIDs) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, "DELETE FROM transfer_ambiguities WHERE organization_id = @org AND transaction_id {any}", transactionIDs)
	return err
}

func selectAmbiguitiesOf(ctx context.Context, tx *db.Tx, from, end time.Time) ([]Ambiguity, error) {
	rows, err := db.All[ambiguityRow](ctx, tx, "SELECT "+db.Columns[ambiguityRow]()+
		" FROM transfer_ambiguities WHERE organization_id = @org AND transaction_date >= ? AND transaction_date < ?", from, end)
	return ambiguitiesOf(rows), err
}

// selectAmbiguitiesByID reads the ambiguities of some transactions.
func selectAmbiguitiesByID(ctx context.Context, tx *db.Tx, transactionIDs []string) ([]Ambiguity, error) {
	rows, err := db.All[ambiguityRow](ctx, tx, "SELECT "+db.Columns[ambiguityRow]()+
		" FROM transfer_ambiguities WHERE organization_id = @org AND transaction_id {any}", transactionIDs)
	return ambiguitiesOf(rows), err
}

// selectAmbiguities reads ambiguities by number, of all sources or of some, without transactions that were linked or
// marked as spam since.
func selectAmbiguities(ctx context.Context, tx *db.Tx, sources []string, above int64, limit int) ([]Ambiguity, error) {
	q := db.Select("SELECT a."+strings.ReplaceAll(db.Columns[ambiguityRow](), ", ", ", a.")+" FROM transfer_ambiguities a "+
		"JOIN transactions t ON t.organization_id = a.organization_id AND t.transaction_id = a.transaction_id "+
		"WHERE a.organization_id = @org AND t.visibility = 0 AND t.status = 'pending' AND t.group_id IS NULL").And("a.number > ?", above)
	if sources != nil {
		q.And("a.source_id {any}", sources)
	}
	rows, err := db.All[ambiguityRow](ctx, tx, q.Then("ORDER BY a.number LIMIT ?", limit), q.Args...)
	return ambiguitiesOf(rows), err
}

// selectUnmatched returns the organizations with transactions that were not matched yet.
func selectUnmatched(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT h.organization_id FROM organization_state h LEFT JOIN transfer_marks m ON m.organization_id = h.organization_id "+
			"WHERE h.transaction_number > COALESCE(m.number, 0) ORDER BY h.organization_id")
}

func selectMark(ctx context.Context, tx *db.Tx) (int64, error) {
	rows, err := db.All[int64](ctx, tx, "SELECT number FROM transfer_marks WHERE organization_id = @org")
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0], nil
}

type markRow struct {
	Number int64 `db:"number"`
}

// updateMark stores that all transactions up to a number were matched, unless a higher number is stored.
func updateMark(ctx context.Context, tx *db.Tx, number int64) error {
	return db.Upsert(ctx, tx, "transfer_marks", []markRow{{number}},
		"ON CONFLICT (organization_id) DO UPDATE SET number = excluded.number WHERE transfer_marks.number < excluded.number")
}

// memberRow is a transaction that has a group.
type memberRow struct {
	Number     int64   `db:"number"`
	ID         string  `db:"transaction_id"`
	Visibility int64   `db:"visibility"`
	Direction  string  `db:"direction"`
	GroupID    string  `db:"group_id"`
	Side       *string `db:"side"`
}

// eachMember visits the transactions that have a group, in batches, with the side of their link.
func eachMember(ctx context.Context, tx *db.Tx, do func(memberRow)) error {
	const columns = "SELECT t.number, t.transaction_id, t.visibility, t.direction, t.group_id, l.side "
	last := ""
	for {
		rows, err := db.All[memberRow](ctx, tx,
			columns+"FROM transactions t LEFT JOIN transaction_links l ON l.organization_id = t.organization_id AND l.transaction_id = "+
				"t.transaction_id "+
				"WHERE t.organization_id = @org AND t.group_id IS NOT NULL AND t.transaction_id > ? ORDER BY t.transaction_id LIMIT ?", last, batchSize)
		if err != nil {
			return err
		}
		for _, r := range rows {
			last = r.ID
			do(r)
		}
		if len(rows) < batchSize {
			return nil
		}
	}
}

const batchSize = 1000

// groupRow counts the links of a group.
type groupRow struct {
	GroupID string `db:"group_id"`
	Outs    int64  `db:"outs"`
	Ins     int64  `db:"ins"`
	Kinds   int64  `db:"kinds"`
}

// selectOddGroups returns groups that do not have one outflow, one inflow and one kind.
func selectOddGroups(ctx context.Context, tx *db.Tx) ([]groupRow, error) {
	return db.All[groupRow](ctx, tx,
		"SELECT group_id, sum(CASE WHEN side = 'out' THEN 1 ELSE 0 END) AS outs, sum(CASE WHEN side = 'in' THEN 1 ELSE 0 END) AS ins, "+
			"count(DISTINCT kind) AS kinds FROM transaction_links WHERE organization_id = @org GROUP BY group_id "+
			"HAVING sum(CASE WHEN side = 'out' THEN 1 ELSE 0 END) <> 1 OR sum(CASE WHEN side = 'in' THEN 1 ELSE 0 END) <> 1 OR "+
			"count(DISTINCT kind) <> 1 ORDER BY group_id")
}

// selectStrayLinks returns links whose transaction is in another group or in none.
func selectStrayLinks(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT l.transaction_id FROM transaction_links l LEFT JOIN transactions t ON t.organization_id = l.organization_id AND "+
			"t.transaction_id = l.transaction_id "+
			"WHERE l.organization_id = @org AND (t.group_id IS NULL OR t.group_id <> l.group_id) ORDER BY l.transaction_id")
}

// selectResolvedAmbiguities returns ambiguities of transactions that are linked.
func selectResolvedAmbiguities(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT a.transaction_id FROM transfer_ambiguities a JOIN transaction_links l ON l.organization_id = a.organization_id AND "+
			"l.transaction_id = a.transaction_id "+
			"WHERE a.organization_id = @org ORDER BY a.transaction_id")
}
