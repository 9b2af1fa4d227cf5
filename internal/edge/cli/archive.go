package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
)

const (
	// archiveFormat is the format of an organization with all that it is, and archiveExtension the extension of such files.
	archiveFormat    = "bursar"
	archiveExtension = ".bursar"
)

// isArchive reports whether the flag or the extension of a file names an archive.
func (x *journalFlags) isArchive(file string) bool {
	return x.format == archiveFormat || x.format == "" && strings.EqualFold(filepath.Ext(file), archiveExtension)
}

// exportArchive writes the archive of an organization.
func (s *settings) exportArchive(c *cobra.Command, x *journalFlags, output string) error {
	for _, flag := range []string{"legal-entity", "no-drafts"} {
		if c.Flags().Changed(flag) {
			return &usageError{fmt.Errorf("--%s is for journals only: an archive has everything of an organization", flag), c.CommandPath()}
		}
	}
	if f, ok := s.out.(*os.File); ok && (output == "" || output == standard) && isTerminal(f) {
		return &usageError{errors.New("an archive is no text: name a file with --output"), c.CommandPath()}
	}
	return s.readingFor(c, x.organization, func(ctx context.Context, a *app.App) error {
		var m *archive.Manifest
		bar := s.bar("written")
		err := s.writeOutput(output, func(w io.Writer) (err error) {
			m, err = archive.Write(ctx, a, actor.From(ctx).OrganizationID, version, w, bar.show)
			return err
		})
		bar.end()
		if err != nil {
			return interrupted(err, "the archive is incomplete")
		}
		name := cmp.Or(output, standard)
		fmt.Fprintf(s.err, "Wrote %s (%s) to %s: %s in %d tables, with the audit log up to record %d.\n", m.OrganizationName, m.OrganizationID,
			name, counted(int(m.Rows()), "row"), len(m.Tables), m.AuditSequence)
		if name == standard {
			name = "FILE"
		}
		fmt.Fprintf(s.err, "Whoever has the file can read the books. It has no passwords, keys or credentials that work.\n"+
			"Import it into another database with\n  bursar import %s --data FOLDER\n", quoted(name))
		return nil
	})
}

// plain matches names that a shell takes as they are.
var plain = regexp.MustCompile(`^[\pL\pN_./:@%+,-]+$`)

// quoted returns the name of a file as an argument for a shell.
func quoted(name string) string {
	if plain.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// importArchive imports the archive of an organization.
func (s *settings) importArchive(c *cobra.Command, in *input, file string, p archive.ImportParams) error {
	for _, flag := range []string{"organization", "legal-entity"} {
		if c.Flags().Changed(flag) {
			return &usageError{fmt.Errorf("--%s is for journals only: an archive has an organization of its own", flag), c.CommandPath()}
		}
	}
	if err := s.exists(); err != nil {
		return err
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	from, err := archive.Open(in, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return s.with(c.Context(), func(a *app.App) error {
		bars := map[string]*bar{}
		p.Progress = func(stage string, done, total int64) {
			if bars[stage] == nil {
				bars[stage] = s.bar(stage)
			}
			bars[stage].show(done, total)
			if done == total {
				bars[stage].end()
			}
		}
		done, err := archive.Import(c.Context(), a, from, p)
		if err != nil {
			return interrupted(fmt.Errorf("%s: %w", file, err), "nothing was imported")
		}
		s.printImported(done, p.DryRun)
		return nil
	})
}

// printImported prints what an import has done, and what is left to do.
func (s *settings) printImported(done archive.Summary, dry bool) {
	m, verb := done.Manifest, "Imported"
	if dry {
		verb = "Would import"
	}
	fmt.Fprintf(s.out, "%s %s (%s) as it was on %s.\n", verb, m.OrganizationName, m.OrganizationID, m.MadeAt)
	fmt.Fprintf(s.out, "verified: %d tables equal, %s, digest %s\n", done.Tables, counted(int(done.Rows), "row"), done.Digest)
	if len(done.Findings) == 0 {
		fmt.Fprintln(s.out, "verified: every invariant holds, and the audit log is whole")
	}
	for _, f := range done.Findings {
		fmt.Fprintf(s.out, "found: %s\n", f.Text)
	}
	for _, line := range adaptedLines(done) {
		fmt.Fprintln(s.out, line)
	}
}

// requestsShown limits how many requests of a firm are listed.
const requestsShown = 20

// requestLines lists the requests of an imported firm that must be sent again.
func requestLines(done firmrequest.Imported) (out []string) {
	if n := len(done.Pending); n > 0 {
		out = append(out, fmt.Sprintf("requests to clients: %d must be sent again with `bursar firm requests resend`, because their links do "+
			"not work here", n))
	}
	for _, r := range done.Pending[:min(len(done.Pending), requestsShown)] {
		out = append(out, fmt.Sprintf("  %s to %s", r.ID, r.Email))
	}
	if more := len(done.Pending) - requestsShown; more > 0 {
		out = append(out, fmt.Sprintf("  and %d more: `bursar firm requests list --status pending`", more))
	}
	if done.Setups > 0 {
		out = append(out, fmt.Sprintf("requests to clients: %s not finished; the client begins again what is not connected",
			counted(done.Setups, "setup")))
	}
	return out
}

// adaptedLines says what was ended or paused, and what is left to do.
func adaptedLines(done archive.Summary) (out []string) {
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	a, u := done.Adapted, done.Users
	add(int64(u.Added), "people: %d added without a password; each sets one at /forgot-password, or with the link that "+
		"`bursar members reset-second-factor` prints", u.Added)
	add(int64(u.Kept), "people: %d were here already and stay as they are", u.Kept)
	for _, r := range u.Moved {
		add(1, "people: another user has the address %s here, so %s has %s, to which no mail can be sent; remove that member, and add the other",
			r.Email, r.UserID, r.Placeholder)
	}
	add(int64(a.Keys), "API keys: %d revoked; create new ones", a.Keys)
	add(int64(a.Apps), "apps: %d disconnected; people connect them again", a.Apps)
	add(int64(a.Connections.Asked), "connections: %d wait for new credentials", a.Connections.Asked)
	add(int64(a.Connections.Ended), "connections: %d disconnected, because their setup was not finished", a.Connections.Ended)
	add(a.Setups, "registrations at providers: %d must be entered again", a.Setups)
	add(int64(a.Webhooks), "webhook endpoints: %d paused; rotate the secret of each, give the new one to its receiver, "+
		"and enable it", a.Webhooks)
	add(a.Invitations, "invitations: %d must be sent again, because their links do not work here", a.Invitations)
	out = append(out, requestLines(a.Requests)...)
	if a.FirmEnded {
		add(1, "firm: its access has ended, because it is not in this database or does not know this client here")
	}
	if a.FirmStays && !a.FirmEnded {
		add(1, "firm: the firm that keeps the books here has access, as it had")
	}
	return out
}
