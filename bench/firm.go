package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	overviewMax  = 200 * time.Millisecond
	ownRatioMax  = 1.2 // a client's own request beside a thousand clients to the same in a database with one
	nightlyMax   = 10 * time.Minute
	firmLoaders  = 2
	auditKept    = 50 // how many of the latest audit records of each client are copied
	firmOutdated = 50 // clients whose figures are out of date in the second measurement of the overview
)

// firm measures a firm with very many clients: its overview, a client's own requests beside those in a database with one client, and the
// nightly check of all of them. The books of one client are made over HTTP, and copied for the others.
func (b *bench) firm(e engine) (figures []figure, err error) {
	clients, count := pick(b, 1000, 1000, 4), pick(b, 10_000, 1000, 40)
	one, err := b.clientBooks(e, "firm-one", count)
	if err != nil {
		return nil, err
	}
	big, err := b.clientBooks(e, "firm-many", count)
	if err != nil {
		return nil, err
	}
	office, err := b.initialize(big, "--another")
	if err != nil {
		return nil, err
	}
	copied, err := b.addClients(big, office, clients)
	if err != nil {
		return nil, err
	}
	alone, err := b.serve(one)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, alone.stop()) }()
	s, err := b.serve(big)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	of := fmt.Sprintf("%d clients with %d transactions each, copied in %s", clients, count, copied.Round(time.Second))
	firm := &server{host: s.host, key: office.key}
	nightly, err := b.nightly(e, firm, clients, of)
	if err != nil {
		return nil, err
	}
	overview, err := b.overview(e, firm, big, clients, of)
	if err != nil {
		return nil, err
	}
	own, err := b.ownRequests(e, s, alone, of)
	return append(append(nightly, overview...), own...), err
}

// clientBooks makes the books of one client: payments of a year, of which most are posted.
func (b *bench) clientBooks(e engine, name string, count int) (k database, err error) {
	if k, err = b.create(e, name); err != nil {
		return k, err
	}
	s, err := b.serve(k)
	if err != nil {
		return k, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	t := &treasuryService{server: s, api: s.client(), payees: 20}
	if err := t.open(b.ctx); err != nil {
		return k, err
	}
	if err := t.rules(b.ctx); err != nil {
		return k, err
	}
	year := 365 * 24 * time.Hour
	from := time.Now().UTC().Add(-year).Truncate(time.Hour)
	for done := 0; done < count; done += classifyBatch {
		var all []client.CreateTransaction
		for i := done; i < min(done+classifyBatch, count); i++ {
			one := t.transaction(t.bank, "debit", "USD", "40.00", "40.00", from.Add(time.Duration(i)*(year/time.Duration(count))))
			one.External.Description = fmt.Sprintf("Payment %d to %s", i, t.payee(i))
			all = append(all, one)
		}
		if _, err := t.api.CreateTransactions(b.ctx, all...); err != nil {
			return k, err
		}
	}
	_, err = t.run(b.ctx, map[string]any{"source_id": t.bank}, "post", false)
	return k, errors.Join(err, t.settle(b))
}

// addClients makes an organization the client of a firm, and adds clients until there are so many. It returns how long that took.
func (b *bench) addClients(k, office database, clients int) (time.Duration, error) {
	pool, done, err := k.open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = done() }()
	f := &firmLoader{pool: pool}
	query := "SELECT organization_id FROM organizations ORDER BY created_at, organization_id"
	if err := f.names(b.ctx, query, &f.template, &f.firm); err != nil {
		return 0, err
	}
	if err := f.names(b.ctx, "SELECT user_id FROM members WHERE organization_id = '"+f.firm+"'", &f.owner); err != nil {
		return 0, err
	}
	s, err := b.serve(office)
	if err != nil {
		return 0, err
	}
	settings := client.Call{Method: http.MethodPatch, Path: "/v1/firm/settings", Body: map[string]any{"firm_name": "Bench"}}
	if err := errors.Join(s.client().Do(b.ctx, settings, nil), s.stop()); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := f.readColumns(b.ctx); err != nil {
		return 0, err
	}
	var loading sync.WaitGroup
	errs := make([]error, firmLoaders)
	for i := range firmLoaders {
		loading.Go(func() {
			for n := i; n < clients && errs[i] == nil; n += firmLoaders {
				errs[i] = f.add(b.ctx, n)
			}
		})
	}
	loading.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	_, err = pool.ExecContext(b.ctx, "VACUUM ANALYZE")
	return time.Since(began), err
}

// firmLoader copies the books of a client.
type firmLoader struct {
	pool                  *sql.DB
	template, firm, owner string
	tables                []string
	columns               map[string][]string
}

// notCopied are tables that belong to one organization only, or of which the measured requests read nothing.
var notCopied = []string{"members", "invitations", "credential_uses", "idempotency_keys", "events", "classification_results", "firms",
	"firm_clients", "firm_access", "firm_people", "firm_jobs", "firm_job_results", "client_figures"}

func (f *firmLoader) names(ctx context.Context, query string, into ...*string) error {
	rows, err := f.pool.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for _, name := range into {
		if !rows.Next() {
			return errors.Join(rows.Err(), errors.New("a row is missing"))
		}
		if err := rows.Scan(name); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readColumns reads the columns of the tables to copy.
func (f *firmLoader) readColumns(ctx context.Context) error {
	f.columns = map[string][]string{}
	for _, t := range db.Tables {
		if t.Kind != db.Tenant || slices.Contains(notCopied, t.Name) {
			continue
		}
		var all string
		if err := f.names(ctx, "SELECT string_agg(column_name, ' ' ORDER BY ordinal_position) FROM information_schema.columns "+
			"WHERE table_schema = 'public' AND is_generated = 'NEVER' AND is_identity = 'NO' AND table_name = '"+t.Name+"'", &all); err != nil {
			return fmt.Errorf("the columns of %s: %w", t.Name, err)
		}
		f.tables, f.columns[t.Name] = append(f.tables, t.Name), strings.Fields(all)
	}
	return nil
}

// add adds the client with a number to the firm; all but the first get copies of the books of the first.
func (f *firmLoader) add(ctx context.Context, n int) error {
	tx, err := f.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	organization := f.template
	statements := []string{"SET LOCAL session_replication_role = replica", "SET LOCAL synchronous_commit = off"}
	if n > 0 {
		organization = fmt.Sprintf("%s%05d", f.template[:len(f.template)-5], n)
		for _, name := range f.tables {
			columns := f.columns[name]
			values := strings.ReplaceAll(" "+strings.Join(columns, ", ")+",", " organization_id,", " '"+organization+"',")
			where := " WHERE organization_id = '" + f.template + "'"
			if name == "audit_log" {
				where += fmt.Sprintf(" AND sequence > (SELECT audit_sequence - %d FROM organization_state%s)", auditKept, where)
			}
			statements = append(statements, "INSERT INTO "+name+" ("+strings.Join(columns, ", ")+") SELECT "+strings.TrimSuffix(values, ",")+
				" FROM "+name+where)
		}
	}
	id := "fcl_" + strings.TrimPrefix(organization, "org_")
	now := "(SELECT created_at FROM firms WHERE organization_id = '" + f.firm + "')"
	statements = append(statements,
		fmt.Sprintf("UPDATE relays SET sequence = s.event_sequence FROM organization_state s WHERE s.organization_id = relays.organization_id "+
			"AND relays.organization_id = '%s'", organization),
		fmt.Sprintf("UPDATE organizations SET firm_organization_id = '%s' WHERE organization_id = '%s'", f.firm, organization),
		fmt.Sprintf("INSERT INTO firm_clients (organization_id, firm_client_id, name, email, client_organization_id, status, created_by, "+
			"created_at) VALUES ('%s', '%s', 'Client %d', 'client@example.com', '%s', 'active', '%s', %s)", f.firm, id, n, organization,
			f.owner, now),
		fmt.Sprintf("INSERT INTO firm_access (organization_id, firm_client_id, firm_organization_id, firm_id, status, granted_at) "+
			"SELECT '%s', '%s', '%s', firm_id, 'active', created_at FROM firms WHERE organization_id = '%[3]s'", organization, id, f.firm),
		fmt.Sprintf("INSERT INTO firm_people (organization_id, firm_client_id, user_id, firm_organization_id, role, member_since, "+
			"created_at) SELECT '%s', '%s', user_id, organization_id, 'partner', created_at, created_at FROM members "+
			"WHERE organization_id = '%s' AND user_id = '%s'", organization, id, f.firm, f.owner))
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.120s: %w", s, err)
		}
	}
	return tx.Commit()
}

// nightly waits for the check of all clients, which the service starts when it starts in the first night of a firm.
func (b *bench) nightly(e engine, firm *server, clients int, of string) ([]figure, error) {
	api, began := firm.client(), time.Now()
	for time.Since(began) < 3*nightlyMax {
		for j, err := range api.FirmJobs(b.ctx, url.Values{"kind": {"readiness"}}) {
			if err != nil {
				return nil, err
			}
			if j.FinishedAt == nil {
				break
			}
			if j.Counts.Completed != int64(clients) {
				return nil, fmt.Errorf("the nightly check ended as %s with %+v", j.Status, j.Counts)
			}
			took := j.FinishedAt.Sub(*j.StartedAt)
			return []figure{{name: "firm on " + e.name + ", nightly readiness check of all clients", value: rounded(took).String(),
				target: "< " + nightlyMax.String(), verdict: b.judgeFrom(full, took < nightlyMax),
				note: fmt.Sprintf("%s; %s per client", of, rounded(took/time.Duration(clients)))}}, nil
		}
		select {
		case <-b.ctx.Done():
			return nil, b.ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return nil, errors.New("the nightly check of all clients did not end")
}

// overview measures a page with all clients: with figures that are up to date, and with some that are not.
func (b *bench) overview(e engine, firm *server, k database, clients int, of string) (figures []figure, err error) {
	seen := 0
	for c, err := range firm.client().FirmOverview(b.ctx, url.Values{"limit": {"1000"}}) {
		if err != nil {
			return nil, err
		}
		if c.OpenTransactions == nil || c.LastMonth == nil {
			return nil, fmt.Errorf("the overview has no figures of %s after the nightly check", c.ClientID)
		}
		seen++
	}
	if seen != clients {
		return nil, fmt.Errorf("the overview has %d clients, want %d", seen, clients)
	}
	pool, done, err := k.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, outdated := range []int{0, min(firmOutdated, clients)} {
		if outdated > 0 { // they stay so, because they are not to be computed again for a while
			_, err := pool.ExecContext(b.ctx, "UPDATE client_figures SET audit_sequence = audit_sequence - 1, refresh_after = "+
				"valid_until WHERE organization_id IN (SELECT organization_id FROM client_figures ORDER BY organization_id LIMIT $1)", outdated)
			if err != nil {
				return nil, err
			}
		}
		c := dial(firm.host, 1)
		defer c.close()
		t, err := c.times(pick(b, 100, 100, 5), firm.get("/v1/firm/overview?limit=1000"))
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{name: fmt.Sprintf("firm on %s, overview with %d clients out of date", e.name, outdated),
			value: rounded(t.at(0.5)).String(), target: "< " + overviewMax.String(), verdict: b.judgeFrom(full, t.at(0.5) < overviewMax),
			note: fmt.Sprintf("p50 of one page over HTTP, p99 %s; %s", rounded(t.at(0.99)), of)})
	}
	return figures, nil
}

// ownRequests compares a client's own requests with the same in a database with one client, request by request.
func (b *bench) ownRequests(e engine, many, alone *server, of string) (figures []figure, err error) {
	m, o := dial(many.host, 1), dial(alone.host, 1)
	defer m.close()
	defer o.close()
	for _, r := range []struct {
		what string
		of   func(*server) request
	}{
		{"transactions", func(s *server) request { return s.get("/v1/transactions?limit=50&status=pending") }},
		{"journal entries", func(s *server) request { return s.get("/v1/journal-entries?limit=50") }},
		{"balance sheet", func(s *server) request { return s.get("/v1/reports/balance-sheet") }},
		{"a change", (*server).rename},
	} {
		var beside, by tally
		toMany, toOne := r.of(many), r.of(alone)
		for i := range pick(b, 600, 300, 6) {
			t, err := m.times(1, toMany)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.what, err)
			}
			u, err := o.times(1, toOne)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.what, err)
			}
			if i > 50 || b.size == tiny { // the first requests fill caches
				beside.add(t)
				by.add(u)
			}
		}
		ratio := beside.at(0.5).Seconds() / by.at(0.5).Seconds()
		figures = append(figures, figure{name: fmt.Sprintf("firm on %s, a client's own requests beside the others to alone: %s", e.name, r.what),
			value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.1f", ownRatioMax), verdict: b.judgeFrom(full, ratio <= ownRatioMax),
			note: fmt.Sprintf("p50 %s to %s, alternately; %s", rounded(beside.at(0.5)), rounded(by.at(0.5)), of)})
	}
	return figures, nil
}
