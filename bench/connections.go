package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	syncRatioMin     = 0.5 // the rate of a synchronization to that of an import
	connectedMax     = 1.1 // a post beside many connections on a schedule to one without
	scheduledMinutes = 5
)

// connected measures how fast an account at an exchange is read, and what a schedule for many accounts costs others.
func (b *bench) connected(e engine) ([]figure, error) {
	read, err := b.readAccount(e)
	if err != nil {
		return nil, err
	}
	beside, err := b.besideSchedule(e)
	return append(read, beside), err
}

// readAccount compares the synchronization of an account with the import of the same rows from a file, in two databases.
func (b *bench) readAccount(e engine) (figures []figure, err error) {
	rows := pick(b, 100_000, 20_000, 300)
	x := newExchange(rows)
	defer x.Close()
	took := [2]time.Duration{}
	for n, measure := range []func(*server, int, string) (time.Duration, error){b.importRows, b.syncRows} {
		k, err := b.create(e, []string{"imported", "synchronized"}[n])
		if err != nil {
			return nil, err
		}
		s, err := b.serve(k, "--allow-private-networks", "--provider-url", "bitstamp="+x.URL)
		if err != nil {
			return nil, err
		}
		took[n], err = measure(s, rows, x.URL)
		if err = errors.Join(err, s.stop()); err != nil {
			return nil, err
		}
	}
	ratio := took[0].Seconds() / took[1].Seconds()
	return []figure{{name: "connection on " + e.name + ", rate of a synchronization to that of an import", value: fmt.Sprintf("%.2f", ratio),
		target: fmt.Sprintf(">= %.1f", syncRatioMin), verdict: b.judge(ratio >= syncRatioMin),
		note: fmt.Sprintf("%d rows: %s from the exchange, %s from a file", rows, rounded(took[1]), rounded(took[0]))}}, nil
}

// onlyEntity returns the id of the legal entity.
func onlyEntity(ctx context.Context, c *client.Client) (string, error) {
	for e, err := range c.LegalEntities(ctx) {
		return e.ID, err
	}
	return "", errors.New("there is no legal entity")
}

// importRows imports a file with what the exchange has.
func (b *bench) importRows(s *server, rows int, _ string) (time.Duration, error) {
	c := s.client()
	entity, err := onlyEntity(b.ctx, c)
	if err != nil {
		return 0, err
	}
	source, err := c.CreateSource(b.ctx, client.CreateSource{SourceType: "exchange", Name: "Bitstamp", LegalEntityID: entity})
	if err != nil {
		return 0, err
	}
	var text strings.Builder
	text.WriteString("id,timestamp,description,amount,currency\n")
	for n := range rows {
		fmt.Fprintf(&text, "%d,%s,Deposit,%s,BTC\n", n+1, exchangeTime(n).Format(time.RFC3339), exchangeAmount(n))
	}
	file := filepath.Join(b.dir, "exchange.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return 0, err
	}
	opened, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	columns := map[string]string{}
	for _, name := range []string{"id", "timestamp", "description", "amount", "currency"} {
		columns[name] = name
	}
	began := time.Now()
	i, err := c.CreateImport(b.ctx, client.CreateImport{File: opened, FileName: "exchange.csv", SourceID: source.ID,
		Mapping: map[string]any{"format": "csv", "columns": columns}})
	for err == nil && i.Status != "completed" && i.Status != "failed" {
		time.Sleep(20 * time.Millisecond)
		i, err = c.Import(b.ctx, i.ID)
	}
	took := time.Since(began)
	if err == nil && i.Counts.Created != int64(rows) {
		err = fmt.Errorf("the import of %d rows created %+v: %v", rows, i.Counts, i.Errors)
	}
	return took, err
}

// connect connects an account at the exchange.
func (b *bench) connect(c *client.Client, entity string, n, minutes int) (client.Connection, error) {
	return c.CreateConnection(b.ctx, client.CreateConnection{Provider: "bitstamp", Name: fmt.Sprint("Account ", n), NewSource: true,
		LegalEntityIDs: []string{entity}, APIKey: fmt.Sprint("key", n), APISecret: "secret", SyncEveryMinutes: &minutes})
}

// syncRows connects an account at the exchange, and waits until all that it has is read.
func (b *bench) syncRows(s *server, rows int, _ string) (time.Duration, error) {
	c := s.client()
	entity, err := onlyEntity(b.ctx, c)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	made, err := b.connect(c, entity, 1, 0)
	for err == nil && made.LastSyncedAt == nil {
		time.Sleep(20 * time.Millisecond)
		made, err = c.Connection(b.ctx, made.ID)
	}
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	for run, err := range c.ConnectionRuns(b.ctx, made.ID) {
		if err != nil || run.Created != int64(rows) {
			return 0, errors.Join(err, fmt.Errorf("the synchronization of %d rows created %d: %v", rows, run.Created, run.ErrorMessage))
		}
	}
	return took, nil
}

// besideSchedule compares posts on a node that looks after many connections by a schedule with those on a node whose connections are read
// on request only. The two nodes take turns: while one is measured, the other one is stopped.
func (b *bench) besideSchedule(e engine) (f figure, err error) {
	x := newExchange(3)
	defer x.Close()
	count := pick(b, 1000, 200, 5)
	ledgers := [2]*ledgerOf{}
	for n, minutes := range []int{0, scheduledMinutes} {
		k, err := b.create(e, []string{"resting", "scheduled"}[n])
		if err != nil {
			return f, err
		}
		flags := []string{"--allow-private-networks", "--provider-url", "bitstamp=" + x.URL}
		s, err := b.serve(k, flags...)
		if err != nil {
			return f, err
		}
		if err = errors.Join(b.connectMany(s, count, minutes), s.stop(), b.spreadSchedule(k)); err != nil {
			return f, err
		}
		if s, err = b.serve(k, flags...); err != nil {
			return f, err
		}
		defer func() {
			_ = s.cmd.Process.Signal(syscall.SIGCONT)
			err = errors.Join(err, s.stop())
		}()
		if ledgers[n], err = b.addLedger(s); err != nil {
			return f, err
		}
		defer ledgers[n].connections.close()
	}
	var posts [2]tally
	before := x.requests.Load()
	var scheduled time.Duration
	for range pick(b, 30, 10, 1) {
		for n, l := range ledgers {
			if err := ledgers[1-n].server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				return f, err
			}
			t, err := l.connections.run(pick(b, 2*time.Second, time.Second, 100*time.Millisecond), l.post(b.spread()))
			if err = errors.Join(err, ledgers[1-n].server.cmd.Process.Signal(syscall.SIGCONT)); err != nil {
				return f, err
			}
			posts[n].add(t)
			scheduled += time.Duration(n) * t.elapsed
		}
	}
	looks := x.requests.Load() - before
	ratio := posts[1].at(0.5).Seconds() / posts[0].at(0.5).Seconds()
	return figure{name: fmt.Sprintf("connection on %s, a post beside %d connections on a schedule to one without", e.name, count),
		value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.1f", connectedMax), verdict: b.judge(ratio <= connectedMax),
		note: fmt.Sprintf("median %s and %s; %.1f requests to the exchange a second", rounded(posts[1].at(0.5)), rounded(posts[0].at(0.5)),
			float64(looks)/scheduled.Seconds())}, nil
}

// spreadSchedule spreads the next looks at all connections over the time between two looks, as they are after a while.
func (b *bench) spreadSchedule(k database) (err error) {
	d, err := db.Open(db.Config{Dir: k.dir, URL: k.url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Prepare(b.ctx); err != nil {
		return err
	}
	return d.WriteAcross(b.ctx, "a benchmark", func(ctx context.Context, tx *db.Tx) error {
		ids, err := db.All[string](ctx, tx, "SELECT connection_id FROM connection_syncs WHERE due_at IS NOT NULL")
		for n, id := range ids {
			due := tx.Now().Add(scheduledMinutes * time.Minute * time.Duration(n) / time.Duration(len(ids)))
			if err == nil {
				_, err = tx.Exec(ctx, "UPDATE connection_syncs SET due_at = ? WHERE connection_id = ?", due, id)
			}
		}
		return err
	})
}

// connectMany connects accounts at the exchange, and waits until they are read.
func (b *bench) connectMany(s *server, count, minutes int) error {
	c := s.client()
	entity, err := onlyEntity(b.ctx, c)
	if err != nil {
		return err
	}
	for n := range count {
		if _, err := b.connect(c, entity, n, minutes); err != nil {
			return err
		}
	}
	for {
		waiting := 0
		for one, err := range c.Connections(b.ctx, nil) {
			if err != nil {
				return err
			}
			if one.LastSyncedAt == nil {
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
}
