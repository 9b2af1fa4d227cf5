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
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				found, err := connectionNamed(ctx, service, args[0])
				if err == nil {
					found, err = service.SyncConnection(ctx, found.ID)
				}
				if err != nil {
					return err
				}
				if wait {
					return interrupted(s.awaitSync(ctx, service, found), "the service goes on reading")
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

// awaitSync waits until the account of a connection was read, and prints what came of it.
func (s *settings) awaitSync(ctx context.Context, service *client.Client, c client.Connection) (err error) {
	if !slices.Contains(c.Capabilities, "import_transactions") {
		fmt.Fprintf(s.out, "%s is %s. Nothing is read from it by itself.\n", c.Name, c.Status)
		return nil
	}
	shown, count := time.Now(), s.counter()
	for c.Status == "syncing" {
		if err := sleep(ctx, awaitEvery/2); err != nil {
			return err
		}
		run, err := latestRun(ctx, service, c.ID)
		if err != nil {
			return err
		}
		if run != nil && run.Status == "running" {
			count(run.Read, time.Since(shown) > linesEvery)
			if time.Since(shown) > linesEvery {
				shown = time.Now()
			}
		}
		if c, err = service.Connection(ctx, c.ID); err != nil {
			return err
		}
	}
	count(-1, false)
	return s.report(ctx, service, c)
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
	if run != nil {
		fmt.Fprintf(s.out, "%s: %s.\n", c.Name, counts(*run))
	}
	if c.Status != "active" {
		problem := orDash(c.ErrorMessage)
		switch c.Status {
		case "needs_reauthorization":
			if c.AuthMethod == "oauth" {
				return fmt.Errorf("%s\n`bursar connections reauthorize %s` connects the account once more", problem, c.ID)
			}
			return fmt.Errorf("%s\n`bursar connections update %s --credentials` enters new credentials", problem, c.ID)
		case "error":
			return fmt.Errorf("%s\nIt is tried again by itself; `bursar connections show %s` shows how far it is", problem, c.ID)
		}
		return fmt.Errorf("the connection is %s", c.Status)
	}
	if err := s.printBalances(ctx, service, c); err != nil {
		return err
	}
	for _, w := range c.Guidance.Warnings {
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
		fmt.Fprintf(s.out, "\n%s to be booked: GET /v1/transactions?status=pending&source_id=%s lists them,\n"+
			"and POST /v1/classification-runs suggests how.\n", waits(waiting), c.SourceIDs[0])
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
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				found, err := connectionNamed(ctx, service, args[0])
				if err != nil {
					return err
				}
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
					text := counts(run)
					if run.ErrorMessage != nil {
						text += ": " + strings.ReplaceAll(*run.ErrorMessage, "\n", " ")
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", run.StartedAt.UTC().Format(minutes), took, run.Cause, run.Status, text)
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&all, "all", false, "list all, not only the latest 20")
	return c
}
