package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/cli"
)

// remote returns the variables with which a command finds the service.
func remote(address, key string) []string {
	return []string{"BURSAR_URL=" + address, "BURSAR_API_KEY=" + key}
}

// addTag creates a tag and returns its id.
func addTag(t *testing.T, c *client.Client, name string) string {
	t.Helper()
	tag, err := c.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: "project"})
	if err != nil {
		t.Fatal(err)
	}
	return tag.ID
}

// printed waits for a line on stdout.
func (p *process) printed(t *testing.T, text string) string {
	t.Helper()
	line, ok := p.out.await(text, patience)
	if !ok {
		t.Fatalf("it never prints %s:\n%s\n%s", text, p.out.tail(), p.log.tail())
	}
	return line
}

// interrupt sends what Ctrl-C does and checks that the process ends without an error.
func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit %d after Ctrl-C\n%s", code, p.log.tail())
	}
}

// eventIDs returns the ids of the events of some types, in order.
func eventIDs(t *testing.T, c *client.Client, types string) (ids []string) {
	t.Helper()
	for e, err := range c.Events(t.Context(), url.Values{"types": {types}}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// printedIDs returns the ids of the events that were printed as JSON.
func printedIDs(t *testing.T, text string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var e client.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.ID == "" || e.OrganizationID == "" {
			t.Fatalf("%q is not an event: %v", line, err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

func TestEventsAreFollowedAcrossRestartsOfTheServiceEachOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key, host := found(t, c).APIKey, freeAddress(t)
		run := func() *process {
			p := start(t, nil, on(c, "serve", "--addr", host, "--rate-limit", "0")...)
			p.ready(t)
			return p
		}
		service, server := once("http://"+host, key), run()
		follower := start(t, remote("http://"+host, key), "events", "tail", "--json", "--type", "tag.*", "--since", "1h")
		for restart := range 3 {
			for i := range 5 {
				addTag(t, service, fmt.Sprintf("Tag %d.%d", restart, i))
			}
			follower.printed(t, fmt.Sprintf("Tag %d.0", restart)) // the others may be on their way when the service is stopped
			if restart == 1 {
				server.terminate(t)
				server.wait(t)
			}
			server.kill()
			service, server = once("http://"+host, key), run()
		}
		addTag(t, service, "The last tag")
		follower.printed(t, "The last tag")
		follower.interrupt(t)
		want, got := eventIDs(t, service, "tag.*"), printedIDs(t, follower.out.text())
		if len(want) != 16 || !slices.Equal(got, want) {
			t.Errorf("printed %d events, want %d:\n%v\n%v", len(got), len(want), got, want)
		}
		for _, says := range []string{"bursar: the connection was lost (", "; connecting again", "bursar: connected again"} {
			if !strings.Contains(follower.log.text(), says) {
				t.Errorf("stderr lacks %q:\n%s", says, follower.log.text())
			}
		}
	})
}

func TestAnEventThatHappensWhileTheServiceIsAwayIsNotMissedEvenIfItIsTheFirst(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	key, host := found(t, c).APIKey, freeAddress(t)
	run := func() *process {
		p := start(t, nil, on(c, "serve", "--addr", host, "--rate-limit", "0", "--log-level", "debug")...)
		p.ready(t)
		return p
	}
	server := run()
	follower := start(t, remote("http://"+host, key), "events", "tail", "--type", "member.*")
	eventually(t, "the follower begins", func(context.Context) error { // it has asked whether it may, and for the newest event
		if strings.Count(server.log.text(), `"/v1/events"`) < 2 {
			return errors.New("not yet")
		}
		return nil
	})
	server.kill()
	inside(on(c, "members", "add", "--email", "first@acme.example", "--role", "viewer")...).mustDo(t)
	run()
	follower.printed(t, "first@acme.example")
	follower.interrupt(t)
	if got := strings.TrimSpace(follower.out.text()); strings.Contains(got, "\n") {
		t.Errorf("want one event, got\n%s", got)
	}
}

func TestTheEventsThereAreArePrintedInColumns(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		address := serve(t, c).ready(t)
		service := once(address, key)
		tag := addTag(t, service, "Osaka \x1b[31mconference")
		other := addTag(t, service, "Kyoto")
		if err := service.DeleteTag(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		events := eventIDs(t, service, "tag.*")
		tail := func(more ...string) string {
			args := append([]string{"events", "tail", "--no-follow", "--url", address, "--api-key", key}, more...)
			return inside(args...).mustDo(t).out
		}
		lines := strings.Split(strings.TrimSpace(tail("--type", "tag.*")), "\n")
		const layout = "2026-11-01 10:00:00  "
		want := []string{
			"tag.created                   " + tag + "   Osaka [31mconference",
			"tag.created                   " + other + "   Kyoto",
			"tag.deleted                   " + other + "   deleted",
		}
		for i, line := range lines {
			_, err := time.Parse("2006-01-02 15:04:05  ", line[:min(len(layout), len(line))])
			if err != nil || i >= len(want) || line[len(layout):] != want[i] {
				t.Errorf("line %d is\n%q, want the time and\n%q", i, line, want[i%len(want)])
			}
		}
		for what, try := range map[string]struct {
			args []string
			want []string
		}{
			"one type":           {[]string{"--type", "tag.deleted"}, events[2:]},
			"two types":          {[]string{"--type", "tag.deleted", "--type", "tag.created"}, events},
			"a record":           {[]string{"--object", other}, events[1:]},
			"after an event":     {[]string{"--type", "tag.*", "--after", events[0]}, events[1:]},
			"an hour":            {[]string{"--type", "tag.*", "--since", "1h"}, events},
			"since a date":       {[]string{"--type", "tag.*", "--since", "2020-01-01"}, events},
			"since now":          {[]string{"--type", "tag.*", "--since", "0s"}, nil},
			"without following":  {[]string{"--type", "tag.*", "--no-follow"}, events},
			"a time of tomorrow": {[]string{"--since", time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)}, nil},
		} {
			if got := printedIDs(t, tail(append(try.args, "--json")...)); !slices.Equal(got, try.want) {
				t.Errorf("%s: got %v, want %v", what, got, try.want)
			}
		}
		if all := printedIDs(t, tail("--json")); !slices.Equal(all[len(all)-3:], events) || len(all) != 9 {
			t.Errorf("all events are %v", all)
		}
		for says, args := range map[string][]string{
			`"nonsense" is no type of event`:                          {"--type", "nonsense"},
			"404 RESOURCE_NOT_FOUND: event not found: evt_01jd":       {"--after", "evt_01jd0000000000000000000000"},
			"401 UNAUTHORIZED":                                        {"--api-key", "bur_nonsense"},
			"the service at http://127.0.0.1:1 cannot be reached: di": {"--url", "http://127.0.0.1:1"},
		} {
			for _, how := range []string{"--no-follow=false", "--no-follow"} {
				inside(append([]string{"events", "tail", how, "--url", address, "--api-key", key}, args...)...).mustFail(t, 1, says)
			}
		}
	})
}

func TestACommandThatUsesTheServiceExplainsWhatIsMissing(t *testing.T) {
	t.Parallel()
	key := []string{"BURSAR_API_KEY=bur_key"}
	for says, args := range map[string][]string{
		"--url must be an address such as http://127.0.0.1:8080, not \"localhost:8080\"": {"events", "tail", "--url", "localhost:8080"},
		"--since must be a duration such as 90m or 24h":                                  {"events", "tail", "--since", "yesterday"},
		"only one of --since and --after":                                                {"events", "tail", "--since", "1h", "--after", "evt_1"},
		"--forward is required":                                                          {"webhooks", "listen"},
		"--forward must be an address":                                                   {"webhooks", "listen", "--forward", "localhost:3000"},
		"--secret is not valid: a secret begins with whsec_":                             {"webhooks", "listen", "--forward", "http://[::1]:1", "--secret", "x"},
	} {
		program(t, key, args...).mustFail(t, 2, says)
	}
	for _, args := range [][]string{{"events", "tail"}, {"webhooks", "listen", "--forward", "http://127.0.0.1:1"}} {
		program(t, nil, args...).mustFail(t, 2, "an API key is required: set BURSAR_API_KEY, or --api-key")
		if r := program(t, key, append(args, "--help")...); strings.Contains(r.out+r.err, "bur_key") {
			t.Errorf("the help of %v shows the key", args)
		}
	}
}

func TestAnEventIsSummarizedByItsNameNumberAmountAndStatus(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"id":"inv_1","invoice_number":"INV-7","customer_name":"Northwind","total_amount":"120.50","currency":"USD","status":"open"}`: "inv_1: " +
			"INV-7  Northwind  120.50 USD  open",
		`{"id":"txn_1","vendor":null,"external":{"description":"Hosting","quantity":"9.00","currency":"EUR"},"internal":{"status":"pending"}}`: "" +
			"txn_1: Hosting  9.00 EUR  pending",
		`{"count":12,"first":"T-1","last":"T-12","source_ids":[],"url":"/v1/events/evt_1/transactions"}`: ": 12 transactions",
		`{"id":"je_1","memo":"Rent\nfor May","status":"posted","lines":[{"amount":"1"}]}`:                "je_1: Rent for May  posted",
		`{"user_id":"usr_1","email":"ada@acme.example","address":"198.51.100.7","details":{}}`:           "usr_1: ada@acme.example",
		`{"id":"tag_1","deleted":true}`:                      "tag_1: deleted",
		`{"asset_type":"BTC","own_token":false}`:             "BTC: ",
		`{"event_retention_days":30,"write_off_limit":null}`: ": events are kept for 30 days",
		`{"id":"whe_1","url":"https://hooks.example/bursar","description":null,"types":[],"status":"paused"}`: "whe_1: https://hooks.example/bursar  paused",
		`[]`: ": ",
	} {
		if id, summary := cli.Describe(json.RawMessage(data)); id+": "+summary != want {
			t.Errorf("%s is summarized as %q, want %q", data, id+": "+summary, want)
		}
	}
}
