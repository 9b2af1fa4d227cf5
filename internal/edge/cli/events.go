package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

func (s *settings) events() *cobra.Command {
	c := &cobra.Command{
		Use:     "events",
		Short:   "Read what happens in an organization",
		Long:    "Read what happens in an organization: each change is an event.",
		Example: "  bursar events tail",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.tailEvents())
	return c
}

// eventFlags say where events are read, and which.
type eventFlags struct {
	remote
	types         []string
	object, after string
}

func (e *eventFlags) flags(c *cobra.Command) {
	e.remote.flags(c)
	f := c.Flags()
	f.StringSliceVar(&e.types, "type", nil,
		"only events of this type, such as invoice.voided, or of all that begin so: invoice.*; may be repeated")
	f.StringVar(&e.object, "object", "", "only events about the record with this id")
	f.StringVar(&e.after, "after", "", "begin after the event with this id; by default, with what happens from now on")
}

// follower returns a follower of the events that the flags select.
func (e *eventFlags) follower(c *cobra.Command, s *settings) (*follower, error) {
	service, err := e.client(c)
	if err != nil {
		return nil, err
	}
	f := &follower{service: service, filter: url.Values{}, after: e.after}
	f.say = func(format string, args ...any) { fmt.Fprintf(s.err, "bursar: "+format+"\n", args...) }
	if len(e.types) > 0 {
		f.filter.Set("types", strings.Join(e.types, ","))
	}
	if e.object != "" {
		f.filter.Set("object_id", e.object)
	}
	return f, nil
}

// tailFlags are the flags of events tail.
type tailFlags struct {
	eventFlags
	since          string
	json, noFollow bool
}

func (s *settings) tailEvents() *cobra.Command {
	t := &tailFlags{}
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print events as they happen",
		Long: "Print the events of an organization as they happen, one in each line, until Ctrl-C: the time (UTC), the type, the id of the\n" +
			"record and a summary of it. Reads them from a running service, with the API key of the organization. If the connection\n" +
			"is lost, it is made again, and no event is missed or repeated.\n\n" +
			"By default, begins with what happens from now on. With --no-follow, prints the events there are, and ends.",
		Example: "  BURSAR_API_KEY=bur_… bursar events tail\n" +
			"  bursar events tail --type 'invoice.*' --type 'cash_application.*' --since 1h\n" +
			"  bursar events tail --object inv_01jd… --since 2026-11-01 --no-follow\n" +
			"  bursar events tail --after evt_01jd… --json | jq .data",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.tail(c, t) },
	}
	t.flags(c)
	f := c.Flags()
	f.StringVar(&t.since, "since", "",
		"begin with the events since then: a duration such as 90m, a date, which begins at midnight UTC, or a time")
	f.BoolVar(&t.json, "json", false, "print each event as JSON, as the API returns it")
	f.BoolVar(&t.noFollow, "no-follow", false, "print the events there are, and end")
	return c
}

func (s *settings) tail(c *cobra.Command, t *tailFlags) error {
	if t.since != "" && t.after != "" {
		return &usageError{errors.New("only one of --since and --after can be given"), c.CommandPath()}
	}
	since, err := sinceTime(t.since, time.Now())
	if err != nil {
		return &usageError{err, c.CommandPath()}
	}
	f, err := t.follower(c, s)
	if err != nil {
		return err
	}
	err = f.try(c.Context())
	if err == nil && t.since != "" {
		err = f.seek(c.Context(), since)
	}
	if err == nil && !t.noFollow {
		err = f.follow(c.Context(), func(e client.Event) error { return s.printEvent(e, t.json) })
	} else if err == nil {
		err = f.list(c.Context(), func(e client.Event) error { return s.printEvent(e, t.json) })
	}
	if c.Context().Err() != nil {
		return nil // the user has seen enough
	}
	return t.unreachable(err)
}

// sinceTime returns the time that --since names.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since must be a duration such as 90m or 24h, a date such as 2026-11-01, or a time such as "+
		"2026-11-01T09:30:00Z, not %q", text)
}

func (s *settings) printEvent(e client.Event, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintf(s.out, "%s\n", envelope(e))
		return err
	}
	id, summary := describe(e.Data)
	line := fmt.Sprintf("%s  %-*s  %-*s  %s", e.CreatedAt.UTC().Format(time.DateTime), typeWidth, e.Type, idWidth, id, summary)
	_, err := fmt.Fprintln(s.out, strings.TrimRight(printable(line), " "))
	return err
}

// envelope returns an event in the form in which webhook endpoints receive it.
func envelope(e client.Event) []byte {
	return outbox.Event{ID: e.ID, Type: e.Type, CreatedAt: e.CreatedAt, Data: cmp.Or(string(e.Data), "null")}.Envelope(e.OrganizationID)
}
