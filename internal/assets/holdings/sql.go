package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// positionRow is a position added up over accounting periods; a row of the table is one period.
type positionRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        string        `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           string        `db:"chain"`
	TokenID         string        `db:"token_id"`
	Currency        string        `db:"currency"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	Lots            int64         `db:"lot_count"`
}

const (
	storedColumns = "p.legal_entity_id, p.source_id, p.ledger_account_id, p.asset_type, p.chain, p.token_id"

	// ownAccount is the account of the source of a row, or the account of the row if it has no source. Where lots are pooled by legal
	// entity, a source consumes lots that stand on the accounts of other sources: what it holds is the sum over all of these accounts.
	ownAccount      = "COALESCE(s.ledger_account_id, p.ledger_account_id)"
	joinSources     = " AS p LEFT JOIN sources AS s ON s.organization_id = @org AND s.source_id = p.source_id "
	positionColumns = "p.legal_entity_id, p.source_id, " + ownAccount + ", p.asset_type, p.chain, p.token_id"
)

// selectPositions sums up movements by position, in the order of their keys, all of them or a page, with or without empty
// positions. It adds up stored rows first, which are in the order of their index, and then the few sums by position.
func selectPositions(ctx context.Context, tx *db.Tx, periodKey string, f Filter, after []string, limit int,
	empty bool) ([]Position, error) {
	from := " FROM lot_positions AS p"
	if periodKey != "" {
		from += " JOIN accounting_periods AS a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id"
	}
	const sums = "{dec_sum}(p.quantity) AS quantity, {dec_sum}(p.basis) AS basis, CAST(sum(p.lot_count) AS BIGINT) AS lot_count"
	q := db.Select("SELECT p.legal_entity_id, p.source_id, " + ownAccount + " AS ledger_account_id, p.asset_type, p.chain, p.token_id" +
		", (SELECT base_currency FROM legal_entities AS e " +
		"WHERE e.organization_id = @org AND e.legal_entity_id = p.legal_entity_id) AS currency, " + sums +
		" FROM (SELECT " + storedColumns + ", " + sums + from + " WHERE p.organization_id = @org")
	if periodKey != "" {
		q.And("a.key <= ?", periodKey)
	}
	f.narrow(q, "p.")
	if after != nil {
		q.And("(p.legal_entity_id, p.source_id) >= (?, ?)", after[0], after[1])
	}
	q.Then("GROUP BY " + storedColumns + ")" + joinSources)
	if after != nil {
		q.Then("WHERE ("+positionColumns+") > (?, ?, ?, ?, ?, ?)", after[0], after[1], after[2], after[3], after[4], after[5])
	}
	held := "GROUP BY " + positionColumns
	if !empty {
		held += " HAVING NOT ({dec_sum}(p.quantity) = '0' AND {dec_sum}(p.basis) = '0')"
	}
	text := q.Then(held + " ORDER BY " + positionColumns)
	if limit > 0 {
		text = q.Then("LIMIT ?", int64(limit))
	}
	rows, err := db.All[positionRow](ctx, tx, text, q.Args...)
	out := make([]Position, len(rows))
	for i, r := range rows {
		out[i] = Position(r)
	}
	return out, err
}

// narrow adds the conditions of the filter to a query. table is the alias of the table, with a dot.
func (f Filter) narrow(q *db.Query, table string) {
	for _, c := range []struct {
		column string
		values []string
	}{{"legal_entity_id", f.LegalEntityIDs}, {"asset_type", f.AssetTypes}, {"source_id", f.SourceIDs}} {
		switch len(c.values) {
		case 0:
		case 1:
			q.And(table+c.column+" = ?", c.values[0])
		default:
			q.And(table+c.column+" {any}", c.values)
		}
	}
}

type balanceRow struct {
	Role          string        `db:"role"`
	LegalEntityID string        `db:"legal_entity_id"`
	Debits        money.Decimal `db:"debits"`
	Credits       money.Decimal `db:"credits"`
}

// selectBalances returns the balances of accounts at the end of a period, debits less credits. roles are the assets of accounts
// by role.
func selectBalances(ctx context.Context, tx *db.Tx, periodKey string, entities []string,
	roles map[string]string) (map[entityAsset]money.Decimal, error) {
	names := make([]string, 0, len(roles))
	for role := range roles {
		names = append(names, role)
	}
	rows, err := db.All[balanceRow](ctx, tx,
		`SELECT a.role, b.legal_entity_id, {dec_sum}(b.debits) AS debits, {dec_sum}(b.credits) AS credits FROM ledger_accounts AS a
		JOIN account_balances AS b ON b.organization_id = @org AND b.tag_id = '' AND b.ledger_account_id = a.ledger_account_id
		JOIN accounting_periods AS p ON p.organization_id = @org AND p.accounting_period_id = b.accounting_period_id
		WHERE a.organization_id = @org AND a.role {any} AND b.legal_entity_id {any} AND p.key <= ? GROUP BY a.role, b.legal_entity_id`,
		names, entities, periodKey)
	out := map[entityAsset]money.Decimal{}
	for _, r := range rows {
		if balance := r.Debits.Sub(r.Credits); !balance.IsZero() {
			o := entityAsset{r.LegalEntityID, roles[r.Role]}
			out[o] = out[o].Add(balance)
		}
	}
	return out, err
}

// moveRow is a position added up over lots, or over uses, between two instants.
type moveRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        string        `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           string        `db:"chain"`
	TokenID         string        `db:"token_id"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
}

// move is the net movement of a position.
type move struct{ quantity, basis money.Decimal }

const (
	movedColumns = "x.legal_entity_id, COALESCE(x.source_id, '') AS source_id, " +
		"COALESCE(s.ledger_account_id, x.ledger_account_id) AS ledger_account_id, x.asset_type, " +
		"COALESCE(x.chain, '') AS chain, COALESCE(x.token_id, '') AS token_id, "
	joinMoved       = " LEFT JOIN sources AS s ON s.organization_id = @org AND s.source_id = x.source_id "
	groupByPosition = "GROUP BY x.legal_entity_id, COALESCE(x.source_id, ''), COALESCE(s.ledger_account_id, x.ledger_account_id), " +
		"x.asset_type, COALESCE(x.chain, ''), COALESCE(x.token_id, '')"
)

// selectMoves sums up the movements between two instants by position: lots that entered, less uses. Uses without a lot are
// deficits and do not count, except relocations.
func selectMoves(ctx context.Context, tx *db.Tx, from, to time.Time, f Filter) (map[[6]string]move, error) {
	entered := db.Select("SELECT "+movedColumns+"{dec_sum}(x.quantity) AS quantity, {dec_sum}(x.cost_basis) AS basis "+
		"FROM journal_entries AS e JOIN lots AS x ON x.organization_id = @org AND x.journal_entry_id = e.journal_entry_id"+
		joinMoved+"WHERE e.organization_id = @org AND e.accounting_date >= ? AND e.accounting_date < ?", from, to)
	used := db.Select("SELECT "+movedColumns+"{dec_sum}(x.quantity) AS quantity, {dec_sum}(x.basis) AS basis FROM lot_uses AS x"+
		joinMoved+"WHERE x.organization_id = @org AND x.accounting_date >= ? AND x.accounting_date < ? "+
		"AND (x.asset_id <> '' OR x.kind = 'relocate')", from, to)
	out := map[[6]string]move{}
	for i, q := range []*db.Query{entered, used} {
		f.narrow(q, "x.")
		rows, err := db.All[moveRow](ctx, tx, q.Then(groupByPosition), q.Args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			k := [6]string{r.LegalEntityID, r.SourceID, r.LedgerAccountID, r.AssetType, r.Chain, r.TokenID}
			m := out[k]
			if i == 0 {
				m = move{m.quantity.Add(r.Quantity), m.basis.Add(r.Basis)}
			} else {
				m = move{m.quantity.Sub(r.Quantity), m.basis.Sub(r.Basis)}
			}
			out[k] = m
		}
	}
	return out, nil
}
