package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	listFew       = 10_000
	listBeside    = 1000 // transactions of sources that have few
	listHandMax   = 3.0  // to the same query in SQL
	listDeepMax   = 1.5  // page 10,000 to page 1
	listGrowthMax = 2.0  // with a million to with ten thousand
)

// transactions measures how fast a file is imported and how fast its transactions are listed, on one engine.
func (b *bench) transactions(e engine) ([]figure, error) {
	few, err := b.fillTransactions(e, "few", pick(b, listFew, listFew, 200))
	if err != nil {
		return nil, err
	}
	defer func() { _ = few.close() }()
	many, err := b.fillTransactions(e, "many", pick(b, 1_000_000, 100_000, 500))
	if err != nil {
		return nil, err
	}
	defer func() { _ = many.close() }()
	figures, err := b.importFigures(e, many)
	if err != nil {
		return nil, err
	}
	found, err := b.listFigures(e, few, many)
	return append(figures, found...), err
}

// transactionService is a running service with transactions in it.
type transactionService struct {
	database
	*server
	connections *connections
	rows        int
	took        time.Duration // by the import
	resident    float64       // the most memory the process used, in megabytes
	source      string
	org         string
	small       string // a source with few transactions
}

func (f *transactionService) close() error { return f.stop() }

// fillTransactions creates a database and imports a file of transactions into it.
func (b *bench) fillTransactions(e engine, name string, rows int) (*transactionService, error) {
	k, err := b.create(e, name)
	if err != nil {
		return nil, err
	}
	return b.importTransactions(k, name, rows)
}

// importTransactions starts a service on a database and imports a file of transactions over HTTP.
func (b *bench) importTransactions(k database, name string, rows int) (*transactionService, error) {
	file := filepath.Join(b.dir, name+".csv")
	if err := writeTransactions(file, rows); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	f := &transactionService{database: k, server: s, rows: rows}
	if err := f.importFile(b.ctx, file, pick(b, listBeside, listBeside, 60)); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return f, nil
}

// importFile creates a wallet and a bank account, imports the file into the wallet and creates a few transactions of the bank.
func (f *transactionService) importFile(ctx context.Context, file string, few int) error {
	c := f.client()
	organization, err := c.Organization(ctx)
	if err != nil {
		return err
	}
	f.org = organization.ID
	var entity string
	for e, err := range c.LegalEntities(ctx) {
		if err != nil {
			return err
		}
		entity = e.ID
	}
	wallet, err := c.CreateSource(ctx, client.CreateSource{SourceType: "wallet", Name: "Bench", LegalEntityID: entity,
		Chain: "ethereum", Address: benchWallet})
	if err != nil {
		return err
	}
	bank, err := c.CreateSource(ctx, client.CreateSource{SourceType: "bank", Name: "Beside", LegalEntityID: entity, Currency: "USD"})
	if err != nil {
		return err
	}
	f.source, f.small = wallet.ID, bank.ID
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	columns := map[string]string{}
	for _, name := range strings.Split(benchHeader, ",") {
		columns[name] = name
	}
	began := time.Now()
	i, err := c.CreateImport(ctx, client.CreateImport{File: opened, FileName: "bench.csv", SourceID: wallet.ID,
		Mapping: map[string]any{"format": "csv", "columns": columns, "value_currency": "USD"}})
	for err == nil && i.Status != "completed" && i.Status != "failed" {
		time.Sleep(50 * time.Millisecond)
		i, err = c.Import(ctx, i.ID)
	}
	if err != nil {
		return err
	}
	if f.took = time.Since(began); i.Counts.Created != int64(f.rows) {
		return fmt.Errorf("the import of %[2]d rows created %+[1]v: %[3]v", i.Counts, f.rows, i.Errors)
	}
	if f.resident, err = f.memory("VmHWM"); err != nil {
		return err
	}
	beside := make([]client.CreateTransaction, few)
	for n := range beside {
		beside[n] = client.CreateTransaction{SourceID: bank.ID, ExternalID: fmt.Sprint("beside-", n), TransactionType: "BILL",
			ProviderCategory: "Rent", External: client.CreateTransactionExternal{
				Timestamp: benchStart.Add(time.Duration(n) * time.Hour), Description: fmt.Sprintf("Beside number %04d", n), Direction: "debit",
				Currency: "CHF"}}
	}
	_, err = c.CreateTransactions(ctx, beside...)
	return err
}

const (
	benchHeader = "id,timestamp,description,amount,currency,value_gross,provider_category,type,chain,from_address,to_address"
	benchWallet = "0x00000000000000000000000000000000000be9c4"
)

var (
	benchStart = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	benchWords = strings.Fields("invoice payment hosting salary refund wire payout coffee flight hotel license consulting deposit " +
		"transfer reward grant office rent insurance legal audit software storage travel taxi lunch")
	benchTypes = []string{"DEPOSIT", "WITHDRAWAL", "SWAP", "FEE", "INCOME", "EXPENSE", "INVOICE", "UNKNOWN"}
)

// writeTransactions writes a file of a wallet with many counterparties. One row in a hundred has a rare asset, type and category.
func writeTransactions(path string, rows int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, benchHeader)
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return benchWords[r.IntN(len(benchWords))] }
	for i := range rows {
		sign, from, to := "", fmt.Sprintf("0x%040x", 1+r.IntN(max(rows/5, 1))), benchWallet
		if r.IntN(2) == 0 {
			sign, from, to = "-", to, from
		}
		asset, kind, category := []string{"ETH", "USDC",
			"WBTC"}[r.IntN(3)], benchTypes[r.IntN(len(benchTypes))], fmt.Sprintf("Category %d;Group %d", r.IntN(60), r.IntN(3))
		if i%100 == 50 {
			asset, kind, category = "RARE", "NFT", "Collectibles"
		}
		value := fmt.Sprintf("%d.%02d", 1+r.IntN(50_000), r.IntN(100))
		if i%(rows/10) == 7 {
			value = "987654.32"
		}
		fmt.Fprintf(w, "b%08d,%s,%s %s %s no. %07d,%s%d.%06d,%s,%s,%s,%s,ethereum,%s,%s\n", i,
			benchStart.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), word(), word(), word(), i,
			sign, 1+r.IntN(1000), r.IntN(1_000_000), asset, value, category, kind, from, to)
	}
	return w.Flush()
}

// listQuery is a request and the equivalent SQL.
type listQuery struct {
	name  string
	query string // of GET /v1/transactions
	where string // the condition in SQL, besides the organization; empty where there is nothing to compare with
	args  []any
	text  string // to search for
}

func (f *transactionService) listQueries() []listQuery {
	address := fmt.Sprintf("0x%040x", 7)
	return []listQuery{
		{name: "plain", where: "visibility = 0"},
		{name: "status", query: "status=pending", where: "visibility = 0 AND status = 'pending'"},
		{name: "source", query: "source_id=" + f.small, where: "visibility = 0 AND source_id = $2", args: []any{f.small}},
		{name: "class", query: "source_class=fiat", where: "visibility = 0 AND source_id = $2", args: []any{f.small}},
		{name: "type", query: "transaction_types=NFT", where: "visibility = 0 AND transaction_type = $2", args: []any{"NFT"}},
		{name: "asset", query: "asset_types=RARE", where: "visibility = 0 AND asset_type = $2", args: []any{"RARE"}},
		{name: "chain", query: "chains=ethereum", where: "visibility = 0 AND chain = $2", args: []any{"ethereum"}},
		{name: "address", query: "addresses=" + strings.ToUpper(address),
			where: "transaction_id IN (SELECT transaction_id FROM transactions WHERE organization_id = $1 AND visibility = 0 AND from_key = $2 " +
				"UNION ALL SELECT transaction_id FROM transactions WHERE organization_id = $1 AND visibility = 0 AND to_key = $2)",
			args: []any{address}},
		{name: "category", query: "provider_category=collect", where: "visibility = 0 AND category_key = $2", args: []any{"collectibles"}},
		{name: "search for one", query: "search=no.+0004242", where: "visibility = 0", text: "no. 0004242"},
		{name: "search for many", query: "search=coffee", where: "visibility = 0", text: "coffee"},
		{name: "value", query: "gross_price_min=900000", where: "visibility = 0 AND gross_price_key >= $2", args: []any{"06900000"}},
		{name: "dates", query: "start_date=2024-01-02&end_date=2024-01-03", where: "visibility = 0 AND transaction_date BETWEEN $2 AND $3",
			args: []any{"2024-01-02T00:00:00.000Z", "2024-01-03T23:59:59.999Z"}},
		{name: "count", query: "count_only=true"},
		{name: "count of a type", query: "count_only=true&transaction_types=NFT"},
		{name: "count of a search", query: "count_only=true&search=no.+0004242"},
	}
}

// listFigures runs every query on both services, and as SQL on the larger database, alternately.
func (b *bench) listFigures(e engine, few, many *transactionService) ([]figure, error) {
	byHand, err := many.directQueries(b.ctx)
	if err != nil {
		return nil, err
	}
	defer byHand.close()
	deep, err := many.deep(b.ctx)
	if err != nil {
		return nil, err
	}
	if err := b.waitUntilIdle(few.server, many.server); err != nil {
		return nil, err
	}
	for _, f := range []*transactionService{few, many} {
		f.connections = dial(f.host, 1)
		defer f.connections.close()
	}
	hand, growth := worst{limit: listHandMax}, worst{limit: listGrowthMax}
	var first, tenThousandth float64
	deep.name = "page 10,000"
	same := append(few.listQueries(), deep)
	for i, q := range append(many.listQueries(), deep) {
		var little, much, plainly tally
		for round := range pick(b, 40, 15, 6) {
			for _, side := range []struct {
				to *tally
				do func() error
			}{
				{&little, func() error { return few.ask(same[i].query) }},
				{&much, func() error { return many.ask(q.query) }},
				{&plainly, func() error { return byHand.ask(q) }},
			} {
				if side.to == &little && q.name == "page 10,000" || side.to == &plainly && q.where == "" {
					continue
				}
				t, err := repeat(func(t tally) bool { return len(t.latencies) < 1 }, side.do)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", q.name, err)
				}
				if round > 4 { // the first ones warm up
					side.to.add(t)
				}
			}
		}
		took := much.at(0.5).Seconds()
		switch q.name {
		case "plain":
			first = took
		case "page 10,000":
			tenThousandth = took
		}
		if q.where != "" {
			hand.add(q.name, took, plainly.at(0.5).Seconds())
		}
		if q.name != "page 10,000" {
			growth.add(q.name, took, little.at(0.5).Seconds())
		}
	}
	deepness := tenThousandth / first
	return []figure{
		hand.figure(b, "list on "+e.name+", to the same query in SQL"),
		growth.figure(b, fmt.Sprintf("list on %s, %d transactions to %d", e.name, many.rows, few.rows)),
		{name: "list on " + e.name + ", page 10,000 to page 1", value: fmt.Sprintf("%.2f", deepness),
			target: fmt.Sprintf("<= %.1f", listDeepMax), verdict: b.judge(deepness <= listDeepMax), note: ""},
	}, nil
}

// waitUntilIdle waits until services have finished the background work after an import, such as matching transfers, which would
// distort the measurement.
func (b *bench) waitUntilIdle(all ...*server) error {
	var last time.Duration
	pause := pick(b, time.Second, time.Second, 40*time.Millisecond)
	for calm, tries := 0, 0; calm < 5 && tries < 180; tries++ {
		time.Sleep(pause)
		var now time.Duration
		for _, s := range all {
			used, err := s.cpu()
			if err != nil {
				return err
			}
			now += used
		}
		if calm++; now-last > 50*time.Millisecond {
			calm = 0
		}
		last = now
	}
	return nil
}

// worst keeps the largest of several ratios, and lists all of them.
type worst struct {
	limit, ratio float64
	all          []string
}

func (w *worst) add(name string, took, of float64) {
	w.ratio = max(w.ratio, took/of)
	w.all = append(w.all, fmt.Sprintf("%s %.1f (%.1f ms)", name, took/of, took*1000))
}

func (w *worst) figure(b *bench, name string) figure {
	return figure{name: name, value: fmt.Sprintf("%.2f", w.ratio), target: fmt.Sprintf("<= %.1f", w.limit),
		verdict: b.judge(w.ratio <= w.limit), note: strings.Join(w.all, ", ")}
}

// ask gets a page over HTTP.
func (f *transactionService) ask(query string) error {
	return f.connections.list[0].send(f.get("/v1/transactions?limit=50&" + query))
}

// deep pages to page 10,000, or half-way where there are fewer, and returns the query for that page.
func (f *transactionService) deep(ctx context.Context) (q listQuery, err error) {
	c := f.client()
	query := url.Values{"limit": {"50"}}
	var last client.Transaction
	for range min(10_000, f.rows/50/2) {
		p, err := c.TransactionsPage(ctx, query)
		if err != nil {
			return q, err
		}
		query.Set("cursor", *p.NextCursor)
		last = p.Data[len(p.Data)-1]
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(last.SequenceNumber, "OT-"), 10, 64)
	return listQuery{query: "cursor=" + query.Get("cursor"), where: "visibility = 0 AND (transaction_date, number) < ($2, $3)",
		args: []any{last.External.Timestamp.UTC().Format("2006-01-02T15:04:05.000Z"), number}}, err
}

// directQueries runs SQL on the database, without the service.
type directQueries struct {
	ctx      context.Context
	pool     *sql.DB
	prepared map[string]*sql.Stmt
	org      string
	sqlite   bool
	closing  func() error
}

func (f *transactionService) directQueries(ctx context.Context) (*directQueries, error) {
	pool, closePool, err := f.open()
	return &directQueries{ctx: ctx, pool: pool, prepared: map[string]*sql.Stmt{}, org: f.org, sqlite: f.url == "", closing: closePool}, err
}

func (h *directQueries) close() { _ = h.closing() }

// ask runs a query as one would write it for that database, prepared once, and reads every column.
func (h *directQueries) ask(q listQuery) error {
	where, args := q.where, append([]any{h.org}, q.args...)
	if q.text != "" {
		// PostgreSQL gets the whole text, SQLite all its trigrams.
		if h.sqlite {
			find, tokens := db.HasTrigrams(db.SQLite, "search", "transaction_texts", "row_key", db.Trigrams(db.SQLite, q.text))
			where, args = where+" AND "+strings.Replace(find, "?", "$2", 1)+" AND instr(search, $3) > 0", append(args, tokens[0], q.text)
		} else {
			where, args = where+" AND search LIKE $2", append(args, "%"+q.text+"%")
		}
	}
	text := "SELECT * FROM transactions WHERE organization_id = $1 AND " + where + " ORDER BY transaction_date DESC, number DESC LIMIT 51"
	if h.sqlite {
		text = strings.ReplaceAll(text, "$", "?")
	}
	stmt := h.prepared[text]
	if stmt == nil {
		var err error
		if stmt, err = h.pool.PrepareContext(h.ctx, text); err != nil {
			return err
		}
		h.prepared[text] = stmt
	}
	rows, err := stmt.QueryContext(h.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
	}
	return rows.Err()
}
