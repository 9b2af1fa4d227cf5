package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// treasurer creates transactions, uploads files and books transactions in an organization of its own.
type treasurer struct {
	sender
	org      string
	source   string
	account  string
	external map[string]bool // ids of transactions that were answered, or are in a file that was accepted
	unbooked []string
}

func (w *world) newTreasurer() user {
	n := w.newTenant("treasury")
	c := &treasurer{sender: sender{world: w, key: n.Key, name: "treasurer"}, org: n.Organization.ID, external: map[string]bool{}}
	r := w.random(0)
	c.do(r, &operation{method: http.MethodPost, path: "/v1/sources",
		body:  `{"name":"Bank","source_type":"bank","legal_entity_id":"` + n.LegalEntity.ID + `"}`,
		known: func(a apitest.Answer) { c.source = decode[withID](w, a.Body).ID }})
	c.settle(r)
	c.do(r, &operation{method: http.MethodPost, path: "/v1/ledger-accounts", body: `{"name":"Costs","type":"Expense"}`,
		known: func(a apitest.Answer) { c.account = decode[withID](w, a.Body).ID }})
	c.settle(r)
	return c
}

func (c *treasurer) act(r *rand.Rand) {
	switch n := r.IntN(6); {
	case n < 2:
		c.create(r)
	case n == 2:
		c.upload(r)
	case len(c.unbooked) > 0:
		c.book(r)
	}
}

// create creates transactions.
func (c *treasurer) create(r *rand.Rand) {
	var ids, bodies []string
	for i := range 1 + r.IntN(4) {
		id := fmt.Sprint("created ", c.sent, " ", i)
		ids = append(ids, id)
		bodies = append(bodies, fmt.Sprintf(`{"source_id":"%s","external_id":"%s","external":{"timestamp":"%s","description":"Rent",`+
			`"direction":"debit","currency":"USD","value_fiat":{"gross":"%d.10","fee":"0.00","net":"%[4]d.10","currency":"USD"}}}`, c.source, id,
			c.today.Add(-time.Hour*time.Duration(r.IntN(1000))).Format(time.RFC3339), 1+r.IntN(900)))
	}
	c.do(r, &operation{method: http.MethodPost, path: "/v1/transactions", body: `{"transactions":[` + strings.Join(bodies, ",") + `]}`,
		known: func(a apitest.Answer) {
			if a.Status != http.StatusCreated {
				c.Errorf("seed %d, round %d: transactions are answered %d %s", c.seed, c.round, a.Status, a.Body)
				return
			}
			for i, made := range decode[[]withID](c.world, a.Body) {
				c.external[ids[i]] = true
				c.unbooked = append(c.unbooked, made.ID)
			}
		}})
}

// upload uploads a file and leaves it to the operator.
func (c *treasurer) upload(r *rand.Rand) {
	file := "Transaction ID,Date,Description,Amount,Currency\n"
	var ids []string
	for i := range 5 + r.IntN(40) {
		ids = append(ids, fmt.Sprint("file ", c.sent, " row ", i))
		file += fmt.Sprintf("%s,%s,Fee,-%d.25,USD\n", ids[i], c.today.AddDate(0, 0, -r.IntN(60)).Format(time.DateOnly), 1+r.IntN(80))
	}
	body, _ := apitest.Form(map[string]any{"file": file, "source_id": c.source})
	c.do(r, &operation{method: http.MethodPost, path: "/v1/imports", body: body, known: func(a apitest.Answer) {
		if a.Status != http.StatusCreated {
			c.Errorf("seed %d, round %d: an import is answered %d %s", c.seed, c.round, a.Status, a.Body)
			return
		}
		id := decode[withID](c.world, a.Body).ID
		for _, one := range ids {
			c.external[one] = true
		}
		c.addTask(func(ctx context.Context, s *apitest.Service) error {
			_, err := s.App.Imports.Run(ctx, c.org, id, nil)
			return err
		})
	}})
}

// book posts the entry of a transaction.
func (c *treasurer) book(r *rand.Rand) {
	i := r.IntN(len(c.unbooked))
	id := c.unbooked[i]
	c.unbooked = slices.Delete(c.unbooked, i, i+1)
	c.do(r, &operation{method: http.MethodPost, path: "/v1/journal-entries", body: fmt.Sprintf(
		`{"transaction_id":"%s","transaction_type":"EXPENSE","ledger_account_id":"%s","auto_post":true}`, id, c.account),
		known: func(a apitest.Answer) {
			if a.Status != http.StatusCreated {
				c.Errorf("seed %d, round %d: the booking of %s is answered %d %s", c.seed, c.round, id, a.Status, a.Body)
			}
		}})
}

// check expects each transaction once, and their numbers without gaps.
func (c *treasurer) check() {
	c.Helper()
	seen, numbers := map[string]int{}, map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				ExternalID string `json:"external_id"`
				Number     string `json:"sequence_number"`
			} `json:"data"`
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(c.mustGet("/v1/transactions?limit=100"+cursor), &page); err != nil {
			c.Fatal(err)
		}
		for _, x := range page.Data {
			seen[x.ExternalID]++
			numbers[x.Number] = true
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	for id := range c.external {
		if seen[id] != 1 {
			c.Errorf("seed %d, round %d: the transaction %q exists %d times", c.seed, c.round, id, seen[id])
		}
	}
	if len(seen) != len(c.external) {
		c.Errorf("seed %d, round %d: %d transactions exist, %d were sent", c.seed, c.round, len(seen), len(c.external))
	}
	for i := range len(seen) {
		if !numbers["OT-"+strconv.Itoa(i+1)] {
			c.Errorf("seed %d, round %d: of %d transactions none has the number OT-%d", c.seed, c.round, len(seen), i+1)
		}
	}
}

// anybody sends the requests of a fuzzer, of every operation.
type anybody struct {
	*world
	*fuzzer
	pending *fuzzRequest
	locked  bool // it has revoked its key
}

// newAnybody creates an organization with records of every kind.
func (w *world) newAnybody() user {
	w.Helper()
	s := *w.nodes[0].service
	server := httptest.NewServer(s.API)
	defer server.Close()
	s.URL = server.URL
	run := &fuzzRun{seed: w.seed, statuses: map[int]int{}, succeeded: map[string]int{}, reported: map[string]bool{}}
	return &anybody{world: w, fuzzer: newFuzzer(w.T, &s, run, 0, s.Found(w.T, "foreign"))}
}

func (a *anybody) act(r *rand.Rand) {
	a.fuzzer.Rand = r
	for range 5 {
		if a.pending != nil || a.locked {
			return
		}
		q := a.next()
		a.fuzzer.sent++
		if q.route.Idempotent && len(q.header) == 0 {
			q.header = [][2]string{{"Idempotency-Key", fmt.Sprint("anybody ", a.fuzzer.sent)}}
		}
		a.attempt(r, q, 2)
	}
}

// attempt sends a request to random nodes. If there is no answer, a request under an idempotency key is pending.
func (a *anybody) attempt(r *rand.Rand, q *fuzzRequest, attempts int) {
	a.pending = nil
	for range attempts {
		n := a.pick(r)
		req, err := q.parse()
		if err != nil {
			return
		}
		a.fuzzer.service = n.service
		answer, known := n.exchange(req)
		if known {
			a.known(q, answer)
			return
		}
	}
	if len(q.header) > 0 {
		a.pending = q
	}
}

func (a *anybody) known(q *fuzzRequest, answer apitest.Answer) {
	a.locked = answer.Status == http.StatusUnauthorized && q.key == a.keys[0]
	if answer.Status >= 300 || q.method == http.MethodHead {
		return
	}
	body, err := a.learnFrom(q, answer)
	if err != nil {
		a.world.Errorf("seed %d, round %d: %s: %v", a.seed, a.round, answer.Body, err)
	}
	if run := a.taskOf(q, body); run != nil {
		a.addTask(run)
	}
}

func (a *anybody) settle(r *rand.Rand) {
	if a.locked {
		a.keys[0].text = a.tenant.At(a.nodes[0].service).Member(a.world.T, actor.Owner, actor.Scopes...)
		a.locked = false
	}
	const attemptsMax = 40
	if a.pending == nil {
		return
	}
	if a.attempt(r, a.pending, attemptsMax); a.pending != nil {
		a.world.Errorf("seed %d, round %d: no answer although no fault happens to\n%s", a.seed, a.round, a.pending)
		a.pending = nil
	}
}

func (a *anybody) check() {
	a.fuzzer.service = a.nodes[0].service
	a.verify()
}
