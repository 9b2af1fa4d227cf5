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
	listHandMax   = 3.0  // of the same query by hand
	listDeepMax   = 1.5  // page 10,000 of page 1
	listGrowthMax = 2.0  // with a million of with ten thousand
)

func measureTransactionsSQLite(b *bench) ([]figure, error) {
	return b.transactions("SQLite", func(name string) (books, error) { return books{dir: filepath.Join(b.dir, name)}, nil })
}

func measureTransactionsPostgres(b *bench) (figures []figure, err error) {
	cluster, err := b.cluster()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	return b.transactions("PostgreSQL", func(name string) (books, error) {
		h, err := sql.Open("pgx", cluster.URL("postgres"))
		if err != nil {
			return books{}, err
		}
		defer h.Close()
		name = strings.NewReplacer("-", "_", " ", "_").Replace(name)
		_, err = h.ExecContext(b.ctx, "CREATE DATABASE "+name)
		return books{url: cluster.URL(name)}, err
	})
}

// transactions measures how fast a file comes in and how fast what came is found, on one engine.
func (b *bench) transactions(engine string, place func(name string) (books, error)) ([]figure, error) {
	rows := pick(b, 1_000_000, 100_000)
	few, err := b.fillTransactions(place, "few-"+engine, listFew)
	if err != nil {
		return nil, err
	}
	defer few.close()
	many, err := b.fillTransactions(place, "many-"+engine, rows)
	if err != nil {
		return nil, err
	}
	defer many.close()
	figures, err := b.importFigures(engine, place, many)
	if err != nil {
		return nil, err
	}
	found, err := b.listFigures(engine, few, many)
	return append(figures, found...), err
}

// filled is a running service with transactions in it.
type filled struct {
	books
	*server
	crowd    *crowd
	rows     int
	took     time.Duration // for the file to come in
	resident float64       // megabytes the process had at most
	source   string
	org      string
	small    string
}

func (f *filled) close() { _ = f.stop() }

// fillTransactions starts a service and brings a file of transactions in, the way anybody would.
func (b *bench) fillTransactions(place func(string) (books, error), name string, rows int) (*filled, error) {
	k, err := place(strings.ToLower(name))
	if err != nil {
		return nil, err
	}
	if k, err = b.foundIn(k); err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, name+".csv")
	if err := writeTransactions(file, rows); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	f := &filled{books: k, server: s, rows: rows}
	if err := f.bring(b.ctx, file); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return f, nil
}

// bring makes a wallet and a bank account, imports the file into the one and sends some transactions of the other.
func (f *filled) bring(ctx context.Context, file string) error {
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
		return fmt.Errorf("the import made %+v of %d rows: %v", i.Counts, f.rows, i.Errors)
	}
	if f.resident, err = f.memory("VmHWM"); err != nil {
		return err
	}
	beside := make([]client.CreateTransaction, listBeside)
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

// writeTransactions writes a file of a wallet that deals with many. One in a hundred is of a rare asset, type and category.
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
		sign, from, to := "", fmt.Sprintf("0x%040x", 1+r.IntN(rows/5)), benchWallet
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

// question is a request and the same by hand.
type question struct {
	name  string
	query string // of GET /v1/transactions
	where string // by hand, beside the organization; empty where there is nothing to compare with
	args  []any
	text  string // to be contained
}

func (f *filled) questions() []question {
	address := fmt.Sprintf("0x%040x", 7)
	return []question{
		{name: "plain", where: "shelf = 0"},
		{name: "status", query: "status=pending", where: "shelf = 0 AND status = 'pending'"},
		{name: "source", query: "source_id=" + f.small, where: "shelf = 0 AND source_id = $2", args: []any{f.small}},
		{name: "class", query: "source_class=fiat", where: "shelf = 0 AND source_id = $2", args: []any{f.small}},
		{name: "type", query: "transaction_types=NFT", where: "shelf = 0 AND transaction_type = $2", args: []any{"NFT"}},
		{name: "asset", query: "asset_types=RARE", where: "shelf = 0 AND asset_type = $2", args: []any{"RARE"}},
		{name: "chain", query: "chains=ethereum", where: "shelf = 0 AND chain = $2", args: []any{"ethereum"}},
		{name: "address", query: "addresses=" + strings.ToUpper(address),
			where: "transaction_id IN (SELECT transaction_id FROM transactions WHERE organization_id = $1 AND shelf = 0 AND from_key = $2 " +
				"UNION ALL SELECT transaction_id FROM transactions WHERE organization_id = $1 AND shelf = 0 AND to_key = $2)", args: []any{address}},
		{name: "category", query: "provider_category=collect", where: "shelf = 0 AND category_key = $2", args: []any{"collectibles"}},
		{name: "search for one", query: "search=no.+0004242", where: "shelf = 0", text: "no. 0004242"},
		{name: "search for many", query: "search=coffee", where: "shelf = 0", text: "coffee"},
		{name: "value", query: "gross_price_min=900000", where: "shelf = 0 AND gross_price_key >= $2", args: []any{"06900000"}},
		{name: "dates", query: "start_date=2024-01-02&end_date=2024-01-03", where: "shelf = 0 AND transaction_date BETWEEN $2 AND $3",
			args: []any{"2024-01-02T00:00:00.000Z", "2024-01-03T23:59:59.999Z"}},
		{name: "count", query: "count_only=true"},
		{name: "count of a type", query: "count_only=true&transaction_types=NFT"},
		{name: "count of a search", query: "count_only=true&search=no.+0004242"},
	}
}

// listFigures asks everything of both services and of the larger database by hand, in turns.
func (b *bench) listFigures(engine string, few, many *filled) ([]figure, error) {
	byHand, err := many.hand(b.ctx)
	if err != nil {
		return nil, err
	}
	defer byHand.close()
	deep, err := many.deep(b.ctx)
	if err != nil {
		return nil, err
	}
	if err := settle(few.server, many.server); err != nil {
		return nil, err
	}
	for _, f := range []*filled{few, many} {
		if f.crowd, err = dial(f.host, 1); err != nil {
			return nil, err
		}
		defer f.crowd.close()
	}
	hand, growth := worst{limit: listHandMax}, worst{limit: listGrowthMax}
	var first, tenThousandth float64
	deep.name = "page 10,000"
	same := append(few.questions(), deep)
	for i, q := range append(many.questions(), deep) {
		var little, much, plainly tally
		for round := range pick(b, 40, 15) {
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
		hand.figure("list on " + engine + ", of the query by hand"),
		growth.figure(fmt.Sprintf("list on %s, %d transactions to %d", engine, many.rows, few.rows)),
		{name: "list on " + engine + ", page 10,000 to page 1", value: fmt.Sprintf("%.2f", deepness), target: fmt.Sprintf("<= %.1f",
			listDeepMax), verdict: judge(deepness <= listDeepMax), note: ""},
	}, nil
}

// settle waits until services have done what comes after an import, such as to match transfers, which would be measured along.
func settle(all ...*server) error {
	var last time.Duration
	for calm, tries := 0, 0; calm < 5 && tries < 180; tries++ {
		time.Sleep(time.Second)
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

// worst keeps the largest of some ratios, and all of them for the record.
type worst struct {
	limit, ratio float64
	all          []string
}

func (w *worst) add(name string, took, of float64) {
	w.ratio = max(w.ratio, took/of)
	w.all = append(w.all, fmt.Sprintf("%s %.1f (%.1f ms)", name, took/of, took*1000))
}

func (w *worst) figure(name string) figure {
	return figure{name: name, value: fmt.Sprintf("%.2f", w.ratio), target: fmt.Sprintf("<= %.1f", w.limit),
		verdict: judge(w.ratio <= w.limit), note: strings.Join(w.all, ", ")}
}

// ask gets a page over HTTP.
func (f *filled) ask(query string) error {
	return f.crowd.lines[0].send(f.get("/v1/transactions?limit=50&" + query))
}

// deep walks to page 10,000, or half-way where there are fewer, and gives it as a question.
func (f *filled) deep(ctx context.Context) (q question, err error) {
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
	return question{query: "cursor=" + query.Get("cursor"), where: "shelf = 0 AND (transaction_date, number) < ($2, $3)",
		args: []any{last.External.Timestamp.UTC().Format("2006-01-02T15:04:05.000Z"), number}}, err
}

// hand is a connection past the service.
type hand struct {
	ctx      context.Context
	pool     *sql.DB
	prepared map[string]*sql.Stmt
	org      string
	sqlite   bool
	closing  func() error
}

func (f *filled) hand(ctx context.Context) (*hand, error) {
	h := &hand{ctx: ctx, org: f.org, prepared: map[string]*sql.Stmt{}, sqlite: f.url == ""}
	if !h.sqlite {
		pool, err := sql.Open("pgx", f.url)
		h.pool, h.closing = pool, pool.Close
		return h, err
	}
	handle, err := db.Open(db.Config{Dir: f.dir})
	if err != nil {
		return nil, err
	}
	h.pool, h.closing = handle.Jobs(), handle.Close
	return h, nil
}

func (h *hand) close() { _ = h.closing() }

// ask runs a query as somebody would write it for one database, prepared once, and reads every column.
func (h *hand) ask(q question) error {
	where, args := q.where, append([]any{h.org}, q.args...)
	if q.text != "" {
		// The whole text for PostgreSQL to find, all its trigrams for SQLite.
		if h.sqlite {
			find, tokens := db.FindsTrigrams(db.SQLite, "search", "transaction_texts", "row_key", db.Trigrams(db.SQLite, q.text))
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
