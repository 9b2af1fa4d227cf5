package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// againstRounds is how often two programs take turns, each for a second: odd, so that the median is a measurement, and
// many short ones, so that both meet the same disturbances.
const againstRounds = 25

// candidate is one of two programs that are compared: its nodes share a database that nobody else uses.
type candidate struct {
	ledger *ledgerOf
	nodes  []*server
	crowd  *crowd
	rates  []float64
}

// open starts a program on a database, as so many nodes, and spreads the clients over them.
func (c *candidate) open(b *bench, k books, nodes int) (err error) {
	if c.ledger, err = b.openLedger(k); err != nil {
		return err
	}
	k.key = c.ledger.key
	c.crowd = &crowd{}
	for i := range nodes {
		s := c.ledger.server
		if i > 0 {
			if s, err = b.serve(k); err != nil {
				return err
			}
			c.nodes = append(c.nodes, s)
		}
		clients, err := dial(s.host, postClients/nodes)
		if err != nil {
			return err
		}
		c.crowd.lines = append(c.crowd.lines, clients.lines...)
	}
	_, err = c.crowd.run(warmup, c.ledger.post(spread))
	return err
}

// close stops the nodes.
func (c *candidate) close() (err error) {
	if c.crowd != nil {
		c.crowd.close()
	}
	for _, s := range c.nodes {
		err = errors.Join(err, s.stop())
	}
	if c.ledger != nil {
		err = errors.Join(err, c.ledger.close())
	}
	return err
}

// measureAgainst posts entries to the program under test and to another build of it in turns, on both engines, on
// PostgreSQL with one node and with two: `go run ./bench -only post-against -against FILE`.
func measureAgainst(b *bench) ([]figure, error) {
	if b.other == "" {
		return []figure{{name: "post, of another program", value: "-", note: "name the other program with -against"}}, nil
	}
	var figures []figure
	for _, setup := range []struct {
		name  string
		nodes int
	}{{"PostgreSQL", 1}, {"PostgreSQL", 2}, {"SQLite", 1}} {
		f, err := b.against(setup.name, setup.nodes)
		if err != nil {
			return figures, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// clusterIn starts a PostgreSQL in a folder of its own, so that the two programs do not share its log.
func (b *bench) clusterIn(name string) (url string, stop func() error, err error) {
	place := *b
	place.dir = filepath.Join(b.dir, name)
	if err := errors.Join(os.Chmod(b.dir, 0o755), os.Mkdir(place.dir, 0o755)); err != nil {
		return "", nil, err
	}
	cluster, err := place.cluster()
	if err != nil {
		return "", nil, err
	}
	return cluster.URL("postgres"), cluster.Close, nil
}

// against compares the two programs in one setup.
func (b *bench) against(engine string, nodes int) (f figure, err error) {
	var pair [2]candidate
	other := *b
	other.bin = b.other
	for i, on := range []*bench{b, &other} {
		k := books{dir: filepath.Join(b.dir, fmt.Sprint("against-", i))}
		if engine == "PostgreSQL" {
			stop := func() error { return nil }
			if k.url, stop, err = b.clusterIn(fmt.Sprint("cluster-", nodes, "-", i)); err != nil {
				return f, err
			}
			defer func() { err = errors.Join(err, stop()) }()
		}
		defer func() { err = errors.Join(err, pair[i].close()) }()
		if err := pair[i].open(on, k, nodes); err != nil {
			return f, err
		}
	}
	var ratios []float64
	for range pick(b, againstRounds, 3) {
		for i := range pair {
			t, err := pair[i].crowd.run(pick(b, time.Second, time.Second/2), pair[i].ledger.post(spread))
			if err != nil {
				return f, err
			}
			pair[i].rates = append(pair[i].rates, t.rate())
		}
		last := len(pair[0].rates) - 1
		ratios = append(ratios, pair[0].rates[last]/pair[1].rates[last])
	}
	slices.Sort(ratios)
	return figure{name: fmt.Sprintf("post on %s, nodes: %d, of another program", engine, nodes), value: fmt.Sprintf("%.2f", median(ratios)),
		note: fmt.Sprintf("%.0f/s of %.0f/s (medians); ratios from %.2f to %.2f", median(pair[0].rates), median(pair[1].rates),
			ratios[0], ratios[len(ratios)-1])}, nil
}
