package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

func (s *settings) syncConnection() *cobra.Command {
	r, wait := &remote{scope: "apis.all"}, false
	c := &cobra.Command{
		Use:   "sync CONNECTION",
		Short: "Read what has changed at the provider",
		Long: "Have the account of a connection read now, in the background. With --wait, shows how many records were read, and ends with an\n" +
			"error if the account could not be read.",
		Example: "  bursar connections sync Kraken\n  bursar connections sync con_01jd… --wait",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onConnection(c, r, args[0], func(ctx context.Context, service *client.Client, found client.Connection) error {
				if remedy := remedyOf(found); remedy != "" {
					return errors.New(remedy)
				}
				before, err := latestRun(ctx, service, found.ID)
				if err != nil {
					return err
				}
				if found, err = service.SyncConnection(ctx, found.ID); err != nil {
					return err
				}
				if wait {
					return interrupted(s.awaitSync(ctx, service, found, before), "the service goes on reading")
				}
				fmt.Fprintf(s.out, "%s is being read.\n", found.Name)
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&wait, "wait", false, "wait until the account was read, and show the progress")
	return c
}

// latestRun returns the latest synchronization of a connection, or nil.
func latestRun(ctx context.Context, service *client.Client, id string) (*client.ConnectionRun, error) {
	for r, err := range service.ConnectionRuns(ctx, id) {
		return &r, err
	}
	return nil, nil
}

// patience is how long to wait for the next try of a synchronization that has failed before, which may fail again without a trace.
const patience = 30 * time.Second

// awaitSync waits until the account of a connection was read, and prints what came of it. before is the latest synchronization at the time
// of the request, or nil: what is known of it does not count, unless it was under way.
func (s *settings) awaitSync(ctx context.Context, service *client.Client, c client.Connection, before *client.ConnectionRun) error {
	began, shown, count, moved := time.Now(), time.Now(), s.counter(), false
	for {
		run, err := latestRun(ctx, service, c.ID)
		if err != nil {
			return err
		}
		if c, err = service.Connection(ctx, c.ID); err != nil {
			return err
		}
		moved = moved || run != nil && before != nil && (run.Read != before.Read || run.ErrorMessage == nil)
		if isOver(c, run, before, moved, time.Since(began) > patience) {
			break
		}
		if run != nil && run.Status == "running" {
			due := time.Since(shown) > linesEvery
			if count(run.Read, due); due {
				shown = time.Now()
			}
		}
		if err := sleep(ctx, awaitEvery/2); err != nil {
			return err
		}
	}
	count(-1, false)
	return s.report(ctx, service, c)
}

// isOver reports whether a synchronization is over that was requested after an earlier one. moved says whether one that was under way has
// got on since, and late whether it was waited for long enough.
func isOver(c client.Connection, run, before *client.ConnectionRun, moved, late bool) bool {
	same := run != nil && before != nil && run.ID == before.ID
	switch {
	case c.Status == "syncing":
		return false
	case c.Status == "disconnected" || c.Status == "pending_setup":
		return true
	case run == nil || same && before.Status != "running": // the new one has not begun
		return late
	case run.Status != "running" || run.ErrorMessage == nil:
		return run.Status != "running"
	case c.Status == "error": // it is tried again after a pause
		return !same || moved || late
	}
	return late
}

// reportLedger prints what was read of a general ledger, and what to do next.
func (s *settings) reportLedger(ctx context.Context, service *client.Client, c client.Connection) error {
	n := 0
	for a, err := range service.GLAccounts(ctx, nil) {
		if err != nil {
			return err
		}
		if a.ConnectionID == c.ID {
			n++
		}
	}
	fmt.Fprintf(s.out, "%s: it has %s.\n", c.Name, counted(n, "account"))
	for _, w := range warningsOf(c) {
		fmt.Fprintf(s.out, "Warning: %s\n", w)
	}
	fmt.Fprintf(s.out, "Reading sends nothing. Once your ledger accounts are mapped to these, `bursar connections send %s` sends entries. "+
		"The guide says how:\n%s/docs/guides/general-ledger\n", c.ID, s.service)
	return nil
}

func importsTransactions(c client.Connection) bool {
	return slices.Contains(c.Capabilities, "import_transactions")
}

// remedyOf says which command helps if nothing can be read from a connection until somebody does something. It is empty if that is not so.
func remedyOf(c client.Connection) string {
	switch {
	case c.Status == "needs_reauthorization" && c.AuthMethod != "oauth":
		return fmt.Sprintf("The provider refuses the credentials: `bursar connections update %s --credentials` enters new ones", c.ID)
	case c.Status == "needs_reauthorization":
		return fmt.Sprintf("The provider refuses the access: `bursar connections reauthorize %s` connects the account once more", c.ID)
	case c.Status == "pending_setup":
		return fmt.Sprintf("The setup is not finished: `bursar connections reauthorize %s` begins another one", c.ID)
	}
	return ""
}

// warningsOf returns the warnings about a connection, with commands instead of requests, and without what its status says already.
func warningsOf(c client.Connection) (out []string) {
	switch c.Status {
	case "disconnected":
		return []string{connectAgain(c)}
	case "needs_reauthorization", "pending_setup":
		return []string{remedyOf(c)}
	}
	for _, w := range c.Guidance.Warnings {
		if c.ErrorMessage == nil || !strings.Contains(w, *c.ErrorMessage) {
			out = append(out, w)
		}
	}
	return out
}

// connectAgain says how to connect the account of a connection again that has ended.
func connectAgain(c client.Connection) string {
	again := "bursar connect " + c.Provider
	if c.AuthMethod != "oauth" && len(c.SourceIDs) == 1 {
		again += " --source " + c.SourceIDs[0]
	}
	return "It has ended for good. To connect the account again, and go on where it stopped: `" + again + "`"
}

// linesEvery is how often progress is printed where there is no terminal.
const linesEvery = 10 * time.Second

// counter returns a function that shows how many records were read: in one line on a terminal, otherwise when a line is due. A negative
// number ends the line.
func (s *settings) counter() func(read int64, due bool) {
	b, last := s.bar(""), int64(-1)
	return func(read int64, due bool) {
		switch {
		case read < 0 && last >= 0 && b.terminal != nil:
			fmt.Fprintln(b.terminal)
		case read < 0 || read == last:
		case b.terminal != nil:
			fmt.Fprintf(b.terminal, "\r%d records read ", read)
			last = read
		case due:
			fmt.Fprintf(s.err, "%d records read\n", read)
			last = read
		}
	}
}

// report prints what a synchronization has brought, and what is left to do.
func (s *settings) report(ctx context.Context, service *client.Client, c client.Connection) error {
	run, err := latestRun(ctx, service, c.ID)
	if err != nil {
		return err
	}
	if run != nil && importsTransactions(c) {
		fmt.Fprintf(s.out, "%s: %s.\n", c.Name, counts(*run))
	}
	if remedy := remedyOf(c); remedy != "" {
		if c.ErrorMessage == nil {
			return errors.New(remedy)
		}
		return fmt.Errorf("%s\n%s", *c.ErrorMessage, remedy)
	}
	if c.Status == "error" {
		return fmt.Errorf("%s\nIt is tried again by itself; `bursar connections show %s` shows how far it is", orDash(c.ErrorMessage), c.ID)
	}
	if c.Status != "active" && c.Status != "syncing" {
		return fmt.Errorf("the connection is %s", c.Status)
	}
	if !importsTransactions(c) {
		return s.reportLedger(ctx, service, c)
	}
	if err := s.printBalances(ctx, service, c); err != nil {
		return err
	}
	for _, w := range warningsOf(c) {
		fmt.Fprintf(s.out, "Warning: %s\n", w)
	}
	var waiting int64
	for _, id := range c.SourceIDs {
		page, err := service.TransactionsPage(ctx, url.Values{"source_id": {id}, "status": {"pending"}, "include_count": {"true"},
			"limit": {"1"}})
		if err != nil {
			return err
		}
		if page.TotalCount != nil {
			waiting += *page.TotalCount
		}
	}
	if waiting > 0 {
		fmt.Fprintf(s.out, "\n%s to be booked. `bursar connections update %s --classify suggest` has new ones get\nsuggestions from now on, "+
			"and the guide says how to book them: %s/docs/guides/import-a-file\n", waits(waiting), c.ID, s.service)
	}
	next := "It is read again on request only: `bursar connections sync`."
	if c.SyncEveryMinutes > 0 {
		next = fmt.Sprintf("It is looked at every %s from now on.", counted(c.SyncEveryMinutes, "minute"))
	}
	fmt.Fprintln(s.out, next)
	return nil
}

func waits(n int64) string {
	if n == 1 {
		return "1 transaction waits"
	}
	return fmt.Sprintf("%d transactions wait", n)
}

// counts says what a synchronization has done.
func counts(r client.ConnectionRun) string {
	text := fmt.Sprintf("%s read, %s", counted(int(r.Read), "record"), counted(int(r.Created), "new transaction"))
	for _, other := range []struct {
		n    int64
		what string
	}{{r.Duplicates, "known already"}, {r.Omitted, "left out because they could not be understood"},
		{r.Removed, "taken back by the provider"}} {
		if other.n > 0 {
			text += fmt.Sprintf(", %d %s", other.n, other.what)
		}
	}
	return text
}

// runsShown is how many synchronizations are listed without --all.
const runsShown = 20

func (s *settings) listRuns() *cobra.Command {
	r, all := &remote{}, false
	c := &cobra.Command{
		Use:   "runs CONNECTION",
		Short: "List the synchronizations of a connection",
		Long: "List the synchronizations of a connection, the latest first: when it began (in UTC), how long it took, why, how it ended, and\n" +
			"what it brought. A look that found nothing new is not listed.",
		Example: "  bursar connections runs Kraken\n  bursar connections runs con_01jd… --all",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onConnection(c, r, args[0], func(ctx context.Context, service *client.Client, found client.Connection) error {
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				n := 0
				for run, err := range service.ConnectionRuns(ctx, found.ID) {
					if err != nil {
						return errors.Join(t.Flush(), err)
					}
					if n++; n > runsShown && !all {
						fmt.Fprintln(s.err, "There are more: --all lists them.")
						break
					}
					took := "-"
					if run.FinishedAt != nil {
						took = run.FinishedAt.Sub(run.StartedAt).Round(time.Millisecond).String()
					}
					var result []string
					if importsTransactions(found) {
						result = append(result, counts(run))
					}
					if run.ErrorMessage != nil {
						result = append(result, strings.ReplaceAll(*run.ErrorMessage, "\n", " "))
					}
					text := strings.Join(result, ": ")
					if n == 1 {
						fmt.Fprintln(t, "BEGAN\tTOOK\tCAUSE\tSTATUS\tRESULT")
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", run.StartedAt.UTC().Format(minutes), took, run.Cause, run.Status, text)
				}
				if n == 0 {
					fmt.Fprintln(s.err, "It was not read yet.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&all, "all", false, "list all, not only the latest 20")
	return c
}
