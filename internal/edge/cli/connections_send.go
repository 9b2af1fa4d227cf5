package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

func (s *settings) sendEntries() *cobra.Command {
	r, run := &remote{scope: "apis.all"}, client.CreateGLSyncRun{}
	c := &cobra.Command{
		Use:   "send CONNECTION",
		Short: "Send posted entries to a general ledger",
		Long: "Send posted entries to a general ledger, each once, and wait for the end. Shows how many were sent, which were not, and why,\n" +
			"and ends with an error if there are any. With --dry-run, only says what would be sent. With --check, compares what stands in\n" +
			"the general ledger with what was sent, and ends with an error if it was changed there.",
		Example: "  bursar connections send Rillet --dry-run\n  bursar connections send Rillet --start-date 2026-01-01 --end-date 2026-01-31",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onConnection(c, r, args[0], func(ctx context.Context, service *client.Client, found client.Connection) error {
				run.ConnectionID = found.ID
				made, err := service.CreateGLSyncRun(ctx, run)
				if err != nil {
					return err
				}
				return interrupted(s.awaitSending(ctx, service, found.Name, made), "the service goes on with the run "+made.ID)
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&run.StartDate, "start-date", "", "send only entries from this accounting date on, such as 2026-01-01")
	c.Flags().StringVar(&run.EndDate, "end-date", "", "send only entries through this accounting date")
	c.Flags().BoolVar(&run.DryRun, "dry-run", false, "say what would be sent, and send nothing")
	c.Flags().BoolVar(&run.Check, "check", false, "compare what stands in the general ledger with what was sent, and send nothing")
	return c
}

// awaitSending waits for the end of a run, and prints what came of it. It says once why a run pauses.
func (s *settings) awaitSending(ctx context.Context, service *client.Client, name string, r client.GLSyncRun) (err error) {
	shown, b := "", s.bar("sent to "+name)
	for r.FinishedAt == nil {
		if r.ErrorMessage != nil && r.NextAttemptAt != nil && *r.ErrorMessage != shown {
			shown = *r.ErrorMessage
			fmt.Fprintf(s.err, "%s; the next attempt is at %s\n", shown, r.NextAttemptAt.UTC().Format("15:04:05 UTC"))
		}
		b.show(r.Done, r.Total)
		if err := sleep(ctx, awaitEvery/2); err != nil {
			return err
		}
		if r, err = service.GLSyncRun(ctx, r.ID); err != nil {
			return err
		}
	}
	b.end()
	return s.reportSent(ctx, service, name, r)
}

// outcomesOf are what is said of the counts of a run.
var outcomesOf = map[string][][2]string{
	"sync": {{"succeeded", "sent, replaced or removed"}, {"unchanged", "there already"}, {"nothing_to_send", "without a value"},
		{"skipped", "changed meanwhile"}, {"blocked", "blocked"}, {"failed", "failed"}},
	"dry_run": {{"create", "to send"}, {"replace", "to replace"}, {"remove", "to remove"}, {"unchanged", "there already"},
		{"nothing_to_send", "without a value"}, {"blocked", "blocked"}},
	"check": {{"equal", "as sent"}, {"changed", "changed there"}, {"missing", "deleted there"}, {"failed", "failed"}},
}

// failuresShown is how many entries are shown that failed, or differ.
const failuresShown = 20

// reportSent prints what came of a run. It returns an error if entries are not in the general ledger as they should be.
func (s *settings) reportSent(ctx context.Context, service *client.Client, name string, r client.GLSyncRun) error {
	var counts []string
	for _, of := range outcomesOf[r.Kind] {
		if n := r.Counts[of[0]]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, of[1]))
		}
	}
	if len(counts) == 0 {
		counts = []string{"no entries"}
	}
	fmt.Fprintf(s.out, "%s: %s.\n", name, strings.Join(counts, ", "))
	for _, b := range r.Blockers {
		if r.Kind == "sync" && !b.StopsRun { // the results say it of each entry
			continue
		}
		fmt.Fprintf(s.out, "%s: %s\n", counted(int(b.Count), "entry"), b.Message)
	}
	for _, status := range []string{"failed", "changed", "missing"} {
		shown := 0
		for result, err := range service.GLSyncResults(ctx, r.ID, url.Values{"status": {status}}) {
			if err != nil {
				return err
			}
			if shown++; shown > failuresShown {
				fmt.Fprintf(s.out, "… GET /v1/gl-sync-runs/%s/results?status=%s shows all\n", r.ID, status)
				break
			}
			why := ""
			if result.Error != nil {
				why = *result.Error
			}
			for _, c := range result.Changes {
				why += fmt.Sprintf("%s is %s instead of %s; ", c.Field, c.Found, c.Sent)
			}
			fmt.Fprintf(s.out, "%s %s: %s\n", result.SequenceNumber, status, strings.TrimSuffix(why, "; "))
		}
	}
	failed, differ := int(r.Counts["failed"]), int(r.Counts["changed"]+r.Counts["missing"])
	switch {
	case r.Status == "blocked":
		return errors.New("nothing was sent: resolve what blocks it first")
	case r.Status == "cancelled":
		return fmt.Errorf("the run %s was cancelled%s", r.ID, notAttempted(r))
	case r.Status == "failed" && r.ErrorMessage != nil:
		return errors.New(*r.ErrorMessage + notAttempted(r))
	case r.Counts["blocked"] > 0:
		return fmt.Errorf("%s cannot be sent", counted(int(r.Counts["blocked"]), "entry"))
	case failed > 0:
		return fmt.Errorf("%s failed", counted(failed, "entry"))
	case differ > 0:
		return fmt.Errorf("%s not as sent", counted(differ, "entry"))
	}
	return nil
}

// notAttempted says how much of what was planned a run that has ended did not begin.
func notAttempted(r client.GLSyncRun) string {
	if r.Done >= r.Total {
		return ""
	}
	return "; not attempted: " + counted(int(r.Total-r.Done), "entry")
}
