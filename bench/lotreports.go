package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

const (
	lotsFew       = 10_000
	lotsMonths    = 120 // from 2016 on
	lotsAssets    = 10
	lotsSources   = 10
	lotsHeld      = 3 // months until a lot is sold
	lotsGrowthMax = 2.0
)

// lotReports shows that a month's report on lots costs the same however many lots there are. It asks for every report of few
// lots and of many, alternately.
func (b *bench) lotReports(e engine) (figures []figure, err error) {
	rows := pick(b, 1_000_000, 100_000, 480)
	fewRows := pick(b, lotsFew, lotsFew, 240)
	few, err := b.lotService(e, "lots-few", fewRows)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, few.stop()) }()
	many, err := b.lotService(e, "lots-many", rows)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, many.stop()) }()
	for _, h := range []*lotService{few, many} {
		h.connections = dial(h.host, 1)
		defer h.connections.close()
	}
	growth := worst{limit: lotsGrowthMax}
	same := few.reports()
	for i, r := range many.reports() {
		var little, much tally
		for round := range pick(b, 40, 15, 6) {
			for _, side := range []struct {
				to   *tally
				of   *lotService
				path string
			}{{&little, few, same[i].path}, {&much, many, r.path}} {
				t, err := side.of.connections.times(1, side.of.get(side.path))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.name, err)
				}
				if round > 4 { // the first ones warm up
					side.to.add(t)
				}
			}
		}
		growth.add(r.name, much.at(0.5).Seconds(), little.at(0.5).Seconds())
	}
	return []figure{growth.figure(b, fmt.Sprintf("lot reports on %s, %d lots to %d", e.name, rows, fewRows))}, nil
}

// lotService is a running service with lots in it.
type lotService struct {
	database
	*server
	connections     *connections
	entity, account string
	sources         []string
	periods         map[string]string // ids by key
}

type lotReport struct{ name, path string }

// reports returns the reports to measure, of a month in the middle of the history and of its last one.
func (h *lotService) reports() (out []lotReport) {
	for _, month := range []struct{ name, key, day string }{{"middle", "2020-12", "2020-12-31"}, {"end", "2025-12", "2025-12-31"}} {
		period := "accounting_period_id=" + h.periods[month.key]
		for _, r := range [][2]string{
			{"closing-positions", period}, {"treasury-balances", "as_of=" + month.day}, {"realized-gains-losses", period}, {"asset-tax-lots",
				"as_of=" + month.day},
			{"schedule-of-dispositions", period}, {"roll-forward", period},
		} {
			out = append(out, lotReport{r[0] + " " + month.name, "/v1/reports/" + r[0] + "?limit=50&" + r[1]})
		}
	}
	return append(out, lotReport{"asset-tax-lots now", "/v1/reports/asset-tax-lots?limit=50"})
}

// lotService creates a database with lots and starts a service on it.
func (b *bench) lotService(e engine, name string, lots int) (*lotService, error) {
	k, err := b.create(e, name)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	h := &lotService{database: k, server: s, periods: map[string]string{}}
	if err := errors.Join(h.prepare(b.ctx), s.stop()); err != nil {
		return nil, err
	}
	if err := h.fill(b.ctx, lots); err != nil {
		return nil, err
	}
	h.server, err = b.serve(k)
	return h, err
}

// prepare creates what lots refer to, and prices.
func (h *lotService) prepare(ctx context.Context) error {
	c := h.client()
	for e, err := range c.LegalEntities(ctx) {
		if err != nil {
			return err
		}
		h.entity = e.ID
	}
	for i := range lotsSources {
		s, err := c.CreateSource(ctx, client.CreateSource{SourceType: "wallet", Name: fmt.Sprint("Wallet ", i), LegalEntityID: h.entity,
			Chain: "ethereum", Address: fmt.Sprint("0x", i)})
		if err != nil {
			return err
		}
		h.sources, h.account = append(h.sources, s.ID), s.LedgerAccountID
	}
	// An entry in the first month creates all accounting periods since.
	lines := []client.CreateJournalLine{{LedgerAccountID: h.account, CreditOrDebit: "DEBIT", Amount: "1"}, {LedgerAccountID: h.account,
		CreditOrDebit: "CREDIT", Amount: "1"}}
	if _, err := c.CreateJournalEntries(ctx, []client.CreateJournalEntry{{AccountingDate: "2016-01-01", Status: "posted",
		Lines: lines}}); err != nil {
		return err
	}
	for p, err := range c.AccountingPeriods(ctx, url.Values{}) {
		if err != nil {
			return err
		}
		h.periods[p.Key] = p.ID
	}
	var prices []client.CreatePrice
	for i := range lotsAssets {
		for _, day := range []string{"2020-11-30", "2020-12-31", "2025-11-30", "2025-12-31"} {
			prices = append(prices, client.CreatePrice{AssetType: fmt.Sprint("C", i), Currency: "USD", Timestamp: day, Price: "10.5"})
		}
	}
	_, err := c.CreatePrices(ctx, prices)
	return err
}

// fill writes lots, disposals and the totals of both directly to the database, because booking them through the service would
// take longer than the measurement. Each month has the same number of lots, of which six in seven are sold some months later.
func (h *lotService) fill(ctx context.Context, lots int) error {
	timestamp, number := "%s", "CAST(%s AS TEXT)"
	if h.url != "" {
		timestamp, number = "CAST(%s AS timestamptz)", "CAST(%s AS numeric)"
	}
	pool, closePool, err := h.open()
	if err != nil {
		return err
	}
	defer closePool()
	at := func(key string) string { return fmt.Sprintf(timestamp, key+" || '-15T00:00:00.000Z'") }
	n := func(expression string) string { return fmt.Sprintf(number, expression) }
	months := h.months()
	few := lots / lotsMonths
	of := fmt.Sprintf("(SELECT i, i / %d AS m, substr(CAST(100000000 + i AS TEXT), 2) AS id, CAST(i %% %d AS TEXT) AS asset, i %% 7 "+
		"= 0 OR i / %d + %d >= %d AS held FROM bench_numbers) AS x", few, lotsAssets, few, lotsHeld, lotsMonths)
	org := "(SELECT organization_id FROM organizations)"
	entry := func(prefix, month string) string {
		return "INSERT INTO journal_entries (organization_id, journal_entry_id, number, status, originated_by, legal_entity_id, " +
			"legal_entity_auto_assigned, accounting_date, period_auto_reassigned, accounting_period_id, " +
			"classification, tag_ids, search, created_at, updated_at) SELECT " + org + ", '" + prefix + "' || x.id, x.i * 2 + " +
			map[string]string{"je_a": "10", "je_b": "11"}[prefix] + ", 'posted', 'user', '" + h.entity + "', FALSE, " +
			at(month+".key") + ", FALSE, " + month + ".period, 'x', '[]', '', " + at(month+".key") + ", " + at(month+".key") + " FROM " +
			of + " JOIN bench_months AS a ON a.m = x.m LEFT JOIN bench_months AS z ON z.m = x.m + " + fmt.Sprint(lotsHeld)
	}
	from := " FROM " + of + " JOIN bench_months AS a ON a.m = x.m LEFT JOIN bench_months AS z ON z.m = x.m + " + fmt.Sprint(lotsHeld) +
		fmt.Sprintf(" JOIN bench_sources AS s ON s.s = (x.i / %d) %% %d", lotsAssets, lotsSources)
	whole := func(sum string) string { return n("sum(" + sum + ")") }
	statements := []string{
		"CREATE TABLE bench_numbers (i INTEGER)",
		fmt.Sprintf("INSERT INTO bench_numbers WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < %d) "+
			"SELECT i FROM c", few*lotsMonths-1),
		"CREATE TABLE bench_months (m INTEGER PRIMARY KEY, key TEXT, period TEXT, interval_node INTEGER)",
		"INSERT INTO bench_months VALUES " + months,
		"CREATE TABLE bench_sources (s INTEGER PRIMARY KEY, id TEXT)", "INSERT INTO bench_sources VALUES " + h.numbered(),
		entry("je_a", "a"), entry("je_b", "z") + " WHERE NOT x.held",
		"INSERT INTO lots (organization_id, asset_id, pool, order_key, seq, legal_entity_id, source_id, ledger_account_id, asset_type, " +
			"acquired_at, quantity, remaining_quantity, cost_basis, remaining_basis, currency, unit_key, is_open, " +
			"origin, journal_entry_id, basis_pending, provisional, created_at, emptied_at, interval_node) SELECT " + org +
			", 'ast_' || x.id, s.id || ' C' || x.asset, x.id, x.i, '" + h.entity + "', s.id, '" + h.account + "', 'C' || x.asset, " +
			at("a.key") + ", " +
			n("10") + ", " + n("CASE WHEN x.held THEN 10 ELSE 0 END") + ", " + n("100 + x.i % 50") + ", " +
			n("CASE WHEN x.held THEN 100 + x.i % 50 ELSE 0 END") + ", 'USD', x.id, x.held, 'transaction', 'je_a' || x.id, FALSE, FALSE, " +
			at("a.key") + ", CASE WHEN x.held THEN NULL ELSE " + at("z.key") + " END, CASE WHEN x.held THEN 0 ELSE a.interval_node END" + from,
		"INSERT INTO lot_uses (organization_id, use_id, pool, order_key, position, asset_id, kind, is_correction, journal_entry_id, " +
			"transaction_type, legal_entity_id, source_id, ledger_account_id, asset_type, accounting_date, " +
			"accounting_period_id, quantity, basis, proceeds, fee, gain, currency, acquired_at, disposed_at, days_held, term, method, " +
			"lot_count) SELECT " + org + ", 'use_' || x.id, s.id || ' C' || x.asset, x.id, 0, 'ast_' || x.id, 'dispose', " +
			"FALSE, 'je_b' || x.id, 'SALE', '" + h.entity + "', s.id, '" + h.account + "', 'C' || x.asset, " + at("z.key") + ", z.period, " +
			n("10") + ", " + n("100 + x.i % 50") + ", " + n("120") + ", " + n("0") + ", " +
			n("20 - x.i % 50") + ", 'USD', " + at("a.key") + ", " + at("z.key") + ", 91, 'short', 'fifo', -1" + from + " WHERE NOT x.held",
		"INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, " +
			"accounting_period_id, quantity, basis, added_quantity, added_basis, lot_count) SELECT " + org + ", '" + h.entity +
			"', id, '" + h.account + "', 'C' || asset, '', '', period, " + whole("q") + ", " + whole("b") + ", " + whole("aq") + ", " +
			whole("ab") + ", sum(l) FROM (SELECT s.id, x.asset, a.period, 10 AS q, 100 + x.i % 50 AS b, 10 AS aq, " +
			"100 + x.i % 50 AS ab, 1 AS l" + from + " UNION ALL SELECT s.id, x.asset, z.period, -10, -100 - x.i % 50, 0, 0, -1" + from +
			" WHERE NOT x.held) AS p GROUP BY id, asset, period",
		"INSERT INTO lot_gains (organization_id, legal_entity_id, asset_type, source_id, accounting_period_id, quantity, proceeds, " +
			"fee, basis, gain, loss, short_term, long_term) SELECT " + org + ", '" + h.entity + "', 'C' || x.asset, s.id, " +
			"z.period, " + whole("10") + ", " + whole("120") + ", " + whole("0") + ", " + whole("100 + x.i % 50") + ", " +
			whole("CASE WHEN x.i % 50 < 20 THEN 20 - x.i % 50 ELSE 0 END") + ", " +
			whole("CASE WHEN x.i % 50 < 20 THEN 0 ELSE x.i % 50 - 20 END") + ", " + whole("20 - x.i % 50") + ", " + whole("0") + from +
			" WHERE NOT x.held GROUP BY x.asset, s.id, z.period",
		"DROP TABLE bench_numbers", "DROP TABLE bench_months", "DROP TABLE bench_sources", "ANALYZE",
	}
	for _, statement := range statements {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%w in %s", err, statement)
		}
	}
	return nil
}

// months returns rows with the number of a month, its key, its period, and the lifetime code of a lot acquired in it and sold.
func (h *lotService) months() string {
	var rows []string
	for m := range lotsMonths {
		month := calendar.Month{Year: 2016, Month: time.January}.Add(m)
		came, went := month.Start(time.UTC), month.Add(lotsHeld).Start(time.UTC)
		rows = append(rows, fmt.Sprintf("(%d, '%s', '%s', %d)", m, month.Key(), h.periods[month.Key()], calendar.IntervalNode(came, went)))
	}
	return strings.Join(rows, ", ")
}

func (h *lotService) numbered() string {
	rows := make([]string, len(h.sources))
	for i, id := range h.sources {
		rows[i] = fmt.Sprintf("(%d, '%s')", i, id)
	}
	return strings.Join(rows, ", ")
}
