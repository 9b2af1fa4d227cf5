package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

func (s *settings) firmOverview() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:   "overview",
		Short: "Show what is to be done for each client",
		Long: "Show what is to be done for each client that you work for: transactions that are neither posted nor spam, whether the last\n" +
			"month can be closed, sources that are not reconciled, pending requests, and when something was changed last (in UTC). A\n" +
			"question mark is what is not known: a figure that is not computed yet, or sources that stated no balance. An asterisk is a figure\n" +
			"from before the latest changes.",
		Example: "  bursar firm overview",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				count := 0
				for one, err := range service.FirmOverview(ctx, url.Values{"limit": {"1000"}}) {
					if err != nil {
						return err
					}
					if count++; count == 1 {
						fmt.Fprintln(t, "CLIENT\tORGANIZATION\tOPEN\tMONTH\tREADINESS\tNOT RECONCILED\tREQUESTS\tLAST CHANGE")
					}
					month, readiness, unreconciled := "-", "-", "-"
					if m := one.LastMonth; m != nil {
						month, readiness, unreconciled = m.Period, m.Readiness, unreconciledOf(*m)
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.Name, one.OrganizationID, figure(one.OpenTransactions, one.IsCurrent),
						month, readiness, unreconciled, figure(one.PendingRequests, true), one.LastActivityAt.UTC().Format(minutes))
				}
				if count == 0 {
					fmt.Fprintln(s.err, "You work for no client: `bursar firm clients add` adds one, and `bursar firm people set` gives you a role "+
						"for one that there is.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	return c
}

// unreconciledOf counts the sources that are not reconciled, and those of which that is not known because they stated no balance.
func unreconciledOf(m client.FirmOverviewMonth) string {
	switch {
	case m.SourcesWithoutBalance == 0:
		return fmt.Sprint(m.UnreconciledSources)
	case m.UnreconciledSources == 0:
		return fmt.Sprintf("%d?", m.SourcesWithoutBalance)
	}
	return fmt.Sprintf("%d, %d?", m.UnreconciledSources, m.SourcesWithoutBalance)
}

// figure is a number that may not be known, or may be from before the latest changes.
func figure(n *int64, current bool) string {
	switch {
	case n == nil:
		return "?"
	case !current:
		return fmt.Sprintf("%d*", *n)
	}
	return fmt.Sprint(*n)
}

func (s *settings) firmJobs() *cobra.Command {
	c := &cobra.Command{
		Use:   "jobs",
		Short: "Do one task for many clients",
		Long: "Check the readiness of a month, classify transactions or compute a report for many clients in one job. Every night, the\n" +
			"service itself checks the last month of all clients.",
		Example: "  bursar firm jobs start readiness\n" +
			"  bursar firm jobs start report --report balance_sheet --client Acme --client Globex\n" +
			"  bursar firm jobs list",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.startFirmJob(), s.listFirmJobs(), s.showFirmJob(), s.cancelFirmJob())
	return c
}

func (s *settings) startFirmJob() *cobra.Command {
	r, p, named, expected, background := writing(), client.CreateFirmJob{}, []string{}, int64(0), false
	c := &cobra.Command{
		Use:   "start KIND",
		Short: "Start a job and wait for its results",
		Long: "Start a job for all clients that you work for, or for some of them, and wait for its results. The kinds are readiness,\n" +
			"classification and report. The job goes on in the service if you stop waiting.",
		Example: "  bursar firm jobs start readiness --period 2026-10\n" +
			"  bursar firm jobs start classification --action post --dry-run\n" +
			"  bursar firm jobs start classification --action post --expected-count 12\n" +
			"  bursar firm jobs start report --report trial_balance --background",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				p.Kind = args[0]
				for _, n := range named {
					found, err := clientNamed(ctx, service, n)
					if err != nil {
						return err
					}
					p.ClientIDs = append(p.ClientIDs, found.ID)
				}
				if c.Flags().Changed("expected-count") {
					p.ExpectedCount = &expected
				}
				j, err := service.CreateFirmJob(ctx, p)
				if err != nil {
					return err
				}
				if background {
					fmt.Fprintf(s.out, "Started %s for %s.\n", j.ID, counted(int(j.Total), "client"))
					return nil
				}
				return interrupted(s.awaitFirmJob(ctx, service, j), "the service goes on: `bursar firm jobs show "+j.ID+"` shows how far it is")
			})
		},
	}
	r.flags(c)
	f := c.Flags()
	f.StringArrayVar(&named, "client", nil, "client to work for: its id, or its name; can be given several times; by default all")
	f.StringVar(&p.Period, "period", "", "month of a readiness check or a report, such as 2026-10; by default the last one that is over")
	f.StringVar(&p.Action, "action", "", "what a classification does: suggest, draft or post")
	f.StringVar(&p.StartDate, "start-date", "", "first day of the transactions to classify")
	f.StringVar(&p.EndDate, "end-date", "", "last day of the transactions to classify")
	f.BoolVar(&p.DryRun, "dry-run", false, "only say what a classification would do for each client")
	f.Int64Var(&expected, "expected-count", 0, "start nothing if the job would be for another number of clients")
	f.StringVar(&p.Report, "report", "", "balance_sheet, income_statement or trial_balance")
	f.StringVar(&p.PresentationCurrency, "presentation-currency", "", "currency of a report; by default that of each client")
	f.BoolVar(&background, "background", false, "do not wait for the results")
	return c
}

// awaitFirmJob shows the progress of a job until it is over, and then its results.
func (s *settings) awaitFirmJob(ctx context.Context, service *client.Client, j client.FirmJob) (err error) {
	b := s.bar("clients")
	for j.FinishedAt == nil {
		b.show(j.Counts.Completed+j.Counts.Failed+j.Counts.Skipped, j.Total)
		if err := sleep(ctx, awaitEvery/2); err != nil {
			return err
		}
		if j, err = service.FirmJob(ctx, j.ID); err != nil {
			return err
		}
	}
	b.show(j.Total, j.Total)
	b.end()
	return s.printFirmJob(ctx, service, j)
}

// printFirmJob prints a job and its results. The error says that it is incomplete.
func (s *settings) printFirmJob(ctx context.Context, service *client.Client, j client.FirmJob) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for one, err := range service.FirmJobResults(ctx, j.ID, nil) {
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", one.Name, one.Status, resultOf(one))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "%s, %s: %d completed, %d failed, %d skipped.\n", j.ID, j.Status, j.Counts.Completed, j.Counts.Failed, j.Counts.Skipped)
	if j.DryRun {
		fmt.Fprintln(s.err, "This was a dry run: nothing was changed.")
	}
	switch {
	case j.Error != nil:
		return errors.New(*j.Error)
	case j.Counts.Failed > 0:
		return fmt.Errorf("the job failed for %s", counted(int(j.Counts.Failed), "client"))
	}
	return nil
}

// resultOf says in one line what came of a job for a client.
func resultOf(r client.FirmJobResult) string {
	switch {
	case r.Error != nil:
		return *r.Error
	case r.Readiness != nil:
		text := r.Readiness.Period + " " + r.Readiness.Status
		for _, c := range r.Readiness.Checks {
			text += fmt.Sprintf("\n  %s: %s", c.Status, c.Message)
		}
		return text
	case r.ClassificationRun != nil:
		parts := []string{r.ClassificationRun.ID}
		for _, name := range slices.Sorted(maps.Keys(r.ClassificationRun.Counts)) {
			if n := r.ClassificationRun.Counts[name]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, name))
			}
		}
		return strings.Join(parts, ", ")
	case r.Report != nil:
		parts := []string{r.Report.Period + " in " + r.Report.Currency}
		for _, total := range r.Report.Totals {
			parts = append(parts, total.Name+" "+total.Amount)
		}
		return strings.Join(parts, ", ")
	}
	return "-"
}

func (s *settings) listFirmJobs() *cobra.Command {
	r, kind := &remote{}, ""
	c := &cobra.Command{
		Use:     "list",
		Short:   "List jobs",
		Long:    "List jobs, the newest first: the id, the kind, the status, for how many clients it is done, when it was started (in UTC).",
		Example: "  bursar firm jobs list\n  bursar firm jobs list --kind readiness",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				count := 0
				for j, err := range service.FirmJobs(ctx, filterOf("kind", kind)) {
					if err != nil {
						return err
					}
					if count++; count == 1 {
						fmt.Fprintln(t, "ID\tKIND\tSTATUS\tDONE\tFAILED\tSTARTED")
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%d\t%s\n", j.ID, j.Kind, j.Status,
						j.Counts.Completed+j.Counts.Failed+j.Counts.Skipped, j.Total, j.Counts.Failed, j.CreatedAt.UTC().Format(minutes))
				}
				if count == 0 {
					fmt.Fprintln(s.err, "There are no jobs: `bursar firm jobs start` starts one.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&kind, "kind", "", "only jobs of this kind: readiness, classification or report")
	return c
}

func (s *settings) showFirmJob() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:     "show JOB",
		Short:   "Show the results of a job",
		Long:    "Show the results of a job, client by client. The command ends with an error if the job failed for a client.",
		Example: "  bursar firm jobs show fjb_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				j, err := service.FirmJob(ctx, args[0])
				if err != nil {
					return err
				}
				return s.printFirmJob(ctx, service, j)
			})
		},
	}
	r.flags(c)
	return c
}

func (s *settings) cancelFirmJob() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:     "cancel JOB",
		Short:   "Cancel a job",
		Long:    "Cancel a job. What it is doing for a client is finished, and the results that there are stay.",
		Example: "  bursar firm jobs cancel fjb_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				j, err := service.CancelFirmJob(ctx, args[0])
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "The job is %s.\n", j.Status)
				return nil
			})
		},
	}
	r.flags(c)
	return c
}
