package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/newfile"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// verification holds the flags of verify.
type verification struct {
	anchors      []string
	folder       string
	since        string
	organization string
}

func (s *settings) verify() *cobra.Command {
	v := &verification{}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Verify all invariants of the stored data",
		Long: "Recompute every invariant of every organization from the stored data: balances, entry numbers, the audit chain, lots\n" +
			"and more, and compare everything that is stored with what the audit log states. A change made outside Bursar is named,\n" +
			"with the record, the column, and what is stored and stated. Prints every violation, and exits with 1 if there is one.\n" +
			"It only reads, and can run beside the service.\n\n" +
			"An audit log that was cut short or rewritten as a whole is found with anchors: files that `bursar anchor` and every close\n" +
			"write. Those in the folder anchors of the data folder, or in --anchors, are compared always, others with --anchor. Keep\n" +
			"copies where nobody who can write to the database can change them. An organization of which there is an anchor, but\n" +
			"nothing in the database, is a violation, and so is a file that cannot be read as an anchor.",
		Example: "  bursar verify\n  bursar verify --anchor /mnt/auditor/2026-01.json\n  bursar verify --since 2026-01-31\n" +
			"  bursar verify --organization org_01jd… --since 120000 --database-url postgres://bursar@db/bursar",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := v.options()
			if err != nil {
				return err
			}
			return s.reading(c.Context(), func(a *app.App) error {
				// The database is opened before, so that a wrong data folder is named as such.
				_, err := o.Read(cmp.Or(v.folder, filepath.Join(s.data, db.AnchorsFolder)))
				if err != nil && (v.folder != "" || !errors.Is(err, fs.ErrNotExist)) { // without the default folder, nothing was closed yet
					return err
				}
				return s.runVerify(c, a, o)
			})
		},
	}
	c.Flags().StringArrayVar(&v.anchors, "anchor", nil,
		"file of an anchor, or folder of such files, to compare the audit log with; may be repeated")
	text(c.Flags(), &v.folder, "anchors", "BURSAR_ANCHORS", "",
		"folder to which the service writes anchors; by default, anchors in the data folder")
	c.Flags().StringVar(&v.since, "since", "", "verify only what audit records after this one changed: a sequence number, which needs "+
		"--organization if there are several, a date or a time")
	c.Flags().StringVar(&v.organization, "organization", "", "id of the only organization to verify; by default, all are")
	return c
}

// options reads the anchors that were named and the start.
func (v *verification) options() (*app.VerifyOptions, error) {
	o := &app.VerifyOptions{OrganizationID: v.organization}
	if v.organization != "" && !id.Valid(id.Organization, v.organization) {
		return nil, &usageError{fmt.Errorf("--organization must be an id such as org_01jd…, not %q", v.organization), "bursar verify"}
	}
	if v.since != "" {
		var err error
		if o.Since, err = parseSince(v.since); err != nil {
			return nil, &usageError{err, "bursar verify"}
		}
	}
	for _, path := range v.anchors {
		files, err := o.Read(path)
		if err != nil {
			return nil, fmt.Errorf("--anchor: %w", err)
		}
		if files == 0 {
			o.Damaged = append(o.Damaged, path+" has no anchors, whose names end in .json: there is nothing to compare the audit log with")
		}
	}
	return o, nil
}

// parseSince parses a sequence number, a date in UTC or a time.
func parseSince(text string) (app.Since, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return app.Since{Sequence: n}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		at, err := time.Parse(layout, text)
		switch {
		case err == nil && at.After(time.Now()):
			return app.Since{}, fmt.Errorf("--since %s is in the future: nothing would be verified", text)
		case err == nil:
			return app.Since{Time: at.UTC()}, nil
		}
	}
	return app.Since{}, fmt.Errorf("--since %s; or it is the number of an audit record, such as 120000", clock.Unreadable(text))
}

func (s *settings) runVerify(c *cobra.Command, a *app.App, o *app.VerifyOptions) error {
	organizations, records := 0, int64(0)
	progress := s.bar("verified")
	o.Progress = progress.show
	o.Verified = func(_ string, n int64) { organizations, records = organizations+1, records+n }
	findings, err := a.Verify(c.Context(), o)
	progress.end()
	if fault.KindOf(err) == fault.Invalid {
		return &usageError{fmt.Errorf("%w; --organization names one", sentences(err)), c.CommandPath()}
	}
	if err != nil {
		return err
	}
	for _, f := range findings {
		fmt.Fprintln(s.out, strings.TrimPrefix(f.OrganizationID+": "+f.Text, ": "))
	}
	if len(findings) > 0 {
		return fmt.Errorf("found %s; docs/OPERATIONS.md says what to do", counted(len(findings), "violation"))
	}
	if n := len(o.Compared()); n > 0 {
		fmt.Fprintf(s.out, "The audit log holds %s.\n", counted(n, "anchor"))
	}
	if o.Since != (app.Since{}) {
		fmt.Fprintf(s.out, "%s in %s, and what they state, are intact.\nNot verified: earlier records, what has not changed since, and "+
			"balances, lots and other totals. Run `bursar verify` without --since for these.\n", counted(int(records), "audit record"),
			counted(organizations, "organization"))
		return nil
	}
	fmt.Fprintf(s.out, "All invariants hold in %s.\n", counted(organizations, "organization"))
	return nil
}

func (s *settings) anchor() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "anchor",
		Short: "Write an anchor of the audit log, to be kept elsewhere",
		Long: "Write an anchor for every organization: the number and hash of the last record of its audit log, and how many journal\n" +
			"entries and transactions there are. Keep it where nobody who can write to the database can change it, such as with the\n" +
			"auditor. `bursar verify --anchor` later finds whether the log was cut short or rewritten. Every close writes one by itself,\n" +
			"to the folder anchors in the data folder.",
		Example: "  bursar anchor --file bursar-$(date +%F).json\n  bursar anchor | mail -s \"Anchor of our books\" auditor@example.com",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.reading(c.Context(), func(a *app.App) error {
				anchors, err := a.Anchors(c.Context())
				if err != nil {
					return err
				}
				if file == "" {
					return writeAnchors(s.out, anchors)
				}
				if err := createAnchors(file, anchors); err != nil {
					return err
				}
				fmt.Fprintf(s.out, "Wrote %s to %s. Keep it outside this machine.\n", counted(len(anchors), "anchor"), file)
				return nil
			})
		},
	}
	c.Flags().StringVar(&file, "file", "", "new file to write to, instead of standard output")
	return c
}

// createAnchors writes anchors to a file that must not exist yet, because an anchor is worth most when it is old.
func createAnchors(file string, anchors []audit.Anchor) error {
	err := newfile.Write(file, func(f *os.File) error { return writeAnchors(f, anchors) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: anchors are not overwritten, so name a new file", file)
	}
	return err
}

func writeAnchors(w io.Writer, anchors []audit.Anchor) error {
	for _, a := range anchors {
		text, err := json.MarshalIndent(a, "", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", text); err != nil {
			return err
		}
	}
	return nil
}
