package booking

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// entryInForce is the SQL condition for an entry that counts, or will once it is posted: a posted entry or a draft that is
// neither reversed, nor a reversal, nor a true-up.
const entryInForce = "e.status IN ('draft', 'posted') AND e.next_entry_id IS NULL AND e.originated_by NOT IN ('reversal', 'true_up')"

// inconsistencies are queries for transactions, entries and bookings that contradict each other, each with the text of a
// finding.
var inconsistencies = []struct{ kind, text, query string }{
	{"transactions that contradict their entry", "%s does not match its journal entry", `SELECT 'OT-' || t.number FROM transactions t
		LEFT JOIN journal_entries e ON e.organization_id = t.organization_id AND e.journal_entry_id = t.journal_entry_id
		LEFT JOIN bookings b ON b.organization_id = t.organization_id AND b.journal_entry_id = t.journal_entry_id
		WHERE t.organization_id = @org AND (t.status = 'posted' AND t.journal_entry_id IS NULL
			OR t.journal_entry_id IS NOT NULL AND (e.journal_entry_id IS NULL OR NOT (` + entryInForce + `)
				OR (t.status = 'posted') <> (e.status = 'posted') OR t.status = 'spam'
				OR (e.transaction_id IS NULL OR e.transaction_id <> t.transaction_id)
					AND (b.partner_id IS NULL OR b.partner_id <> t.transaction_id)))
		ORDER BY t.number`},
	{"entries that their transaction does not name", "the transaction of the entry %s does not exist, or names another entry or none",
		`SELECT 'JE-' || e.number FROM journal_entries e
		LEFT JOIN transactions t ON t.organization_id = e.organization_id AND t.transaction_id = e.transaction_id
		WHERE e.organization_id = @org AND e.transaction_id IS NOT NULL AND ` + entryInForce +
			` AND (t.journal_entry_id IS NULL OR t.journal_entry_id <> e.journal_entry_id) ORDER BY e.number`},
	{"transfers with two entries", "the entry %s books a transfer, but one of its transactions names another entry or none",
		`SELECT b.journal_entry_id FROM bookings b
		JOIN journal_entries e ON e.organization_id = b.organization_id AND e.journal_entry_id = b.journal_entry_id AND ` + entryInForce + `
		LEFT JOIN transactions t ON t.organization_id = b.organization_id AND t.transaction_id = b.partner_id
		WHERE b.organization_id = @org AND b.partner_id IS NOT NULL
			AND (t.journal_entry_id IS NULL OR t.journal_entry_id <> b.journal_entry_id) ORDER BY 1`},
	{"bookings of another type", "the booking of the entry %s has another transaction type than the entry",
		`SELECT b.journal_entry_id FROM bookings b
		JOIN journal_entries e ON e.organization_id = b.organization_id AND e.journal_entry_id = b.journal_entry_id AND ` + entryInForce + `
		WHERE b.organization_id = @org AND b.transaction_type <> e.classification ORDER BY 1`},
	{"bookings without an entry", "a booking is stored for the entry %s, but there is no such entry of that transaction",
		`SELECT b.journal_entry_id FROM bookings b
		LEFT JOIN journal_entries e ON e.organization_id = b.organization_id AND e.journal_entry_id = b.journal_entry_id
		WHERE b.organization_id = @org AND (e.transaction_id IS NULL OR e.transaction_id <> b.transaction_id) ORDER BY 1`},
	{"entries without a booking", "the entry %s consumes or creates lots, but no booking is stored for it",
		`SELECT x.journal_entry_id FROM (
			SELECT c.journal_entry_id FROM lot_consumptions c WHERE c.organization_id = @org
			UNION SELECT l.journal_entry_id FROM lots l WHERE l.organization_id = @org AND l.origin <> 'manual') AS x
		WHERE NOT EXISTS (SELECT 1 FROM bookings b WHERE b.organization_id = @org AND b.journal_entry_id = x.journal_entry_id) ORDER BY 1`},
}

// selectInForce returns a page of the bookings of posted entries in force, ordered by entry.
func selectInForce(ctx context.Context, tx *db.Tx, after string, limit int) ([]bookingRow, error) {
	return db.All[bookingRow](ctx, tx, "SELECT "+db.Columns[bookingRow]()+
		` FROM bookings WHERE organization_id = @org AND journal_entry_id > ? AND EXISTS (
			SELECT 1 FROM journal_entries e WHERE e.organization_id = bookings.organization_id
			AND e.journal_entry_id = bookings.journal_entry_id AND e.status = 'posted' AND `+entryInForce+`)
		ORDER BY journal_entry_id LIMIT ?`, after, limit)
}
