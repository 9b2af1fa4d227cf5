package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	sources "github.com/bursarhq/bursar/internal/treasury/source"
)

// transactionFlags are the flags of import transactions.
type transactionFlags struct {
	journalFlags
	source  string
	preset  string
	mapping string
	resume  string
	dry     bool
}

func (s *settings) importTransactions() *cobra.Command {
	b := &transactionFlags{}
	c := &cobra.Command{
		Use:   "transactions FILE",
		Short: "Import transactions from a CSV, JSON or OFX file of a bank, exchange, processor or block explorer",
		Long: "Import the transactions of a file into a source.\n\n" +
			"Known layouts: " + strings.Join(intake.PresetNames(), ", ") + ",\n" +
			"OFX, and JSON in the format of the API. For other files the columns are guessed: --dry-run shows how, together with the\n" +
			"first transactions, and --mapping sets them.\n\n" +
			"A faulty row is reported and skipped; the others are imported. Importing a file again, or one that overlaps with it, adds\n" +
			"nothing twice. FILE may be - for standard input. The service can be running or stopped.",
		Example: "  bursar import transactions kraken.csv --source \"Kraken\" --dry-run\n" +
			"  bursar import transactions kraken.csv --source exs_01jd…\n" +
			"  bursar import transactions bank.csv --source \"Checking\" --mapping mapping.json\n" +
			"  bursar import transactions --resume imp_01jd…",
		Args: func(c *cobra.Command, args []string) error {
			if b.resume != "" && len(args) > 0 {
				return fmt.Errorf("%s --resume takes no file, but got %s", c.CommandPath(), strings.Join(args, " "))
			}
			if b.resume != "" {
				return nil
			}
			return oneArg(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return s.importFile(c, b, args) },
	}
	f := c.Flags()
	f.StringVar(&b.source, "source", "", "id or name of the source, or id of its ledger account")
	f.StringVar(&b.format, "format", "", "csv, json or ofx; by default, detected from the file")
	f.StringVar(&b.preset, "preset", "", "a known layout, such as kraken; by default, detected from the file")
	f.StringVar(&b.mapping, "mapping", "", "JSON file that maps columns to fields; by default, detected from the file")
	f.StringVar(&b.organization, "organization", "", organizationUsage)
	f.StringVar(&b.resume, "resume", "", "id of an interrupted import to continue")
	f.BoolVar(&b.dry, "dry-run", false, "print what would be imported, without changing anything")
	return c
}

func (s *settings) importFile(c *cobra.Command, b *transactionFlags, args []string) error {
	if b.resume == "" && b.source == "" {
		return &usageError{errors.New("--source is required: the id or the name of the source that the transactions belong to"), c.CommandPath()}
	}
	if b.mapping == standard && len(args) == 1 && args[0] == standard {
		return &usageError{errors.New("only one of FILE and --mapping can be - (standard input)"), c.CommandPath()}
	}
	mapping, err := readMapping(c.Context(), b.mapping)
	if err != nil {
		return err
	}
	if err := s.exists(); err != nil {
		return err
	}
	if b.resume != "" {
		return s.with(c.Context(), func(a *app.App) error {
			ctx, err := actFor(c, a, b.organization)
			if err != nil {
				return err
			}
			return s.follow(ctx, a, b.resume)
		})
	}
	in, err := openInput(c.Context(), args[0])
	if err != nil {
		return interrupted(err, "nothing was imported")
	}
	defer in.close()
	return s.with(c.Context(), func(a *app.App) error {
		ctx, err := actFor(c, a, b.organization)
		if err != nil {
			return err
		}
		p := imports.Params{FileName: filepath.Base(args[0]), Format: intake.Format(b.format), Preset: b.preset, Mapping: mapping}
		if p.SourceID, err = sourceNamed(ctx, a, b.source); err != nil {
			return err
		}
		return s.createImport(ctx, a, p, in, b.dry)
	})
}

// readMapping reads a mapping as strictly as the API does.
func readMapping(ctx context.Context, file string) (*intake.Mapping, error) {
	if file == "" {
		return nil, nil
	}
	f, err := openInput(ctx, file)
	if err != nil {
		return nil, err
	}
	defer f.close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	m := &intake.Mapping{}
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%s is not a mapping: %w; --dry-run prints one to start from", file, err)
	}
	return m, nil
}

// sourceNamed resolves a source by its id, the id of its ledger account, or its name.
func sourceNamed(ctx context.Context, a *app.App, text string) (string, error) {
	if found, err := a.Sources.Get(ctx, text); fault.KindOf(err) != fault.NotFound {
		return found.ID, err
	}
	var named, all []string
	for p := (page.Request{Limit: page.LimitMax}); ; {
		found, err := a.Sources.List(ctx, sources.Filter{}, p)
		if err != nil {
			return "", err
		}
		for _, s := range found.Items {
			all = append(all, s.ID+"  "+s.Name)
			if strings.EqualFold(s.Name, text) {
				named = append(named, s.ID)
			}
		}
		if p.Cursor = found.NextCursor; !found.HasMore {
			break
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return "", fmt.Errorf("%d sources are named %q: choose one by its id:\n  %s", len(named), text, strings.Join(named, "\n  "))
	case len(all) == 0:
		return "", errors.New("there is no source yet: create one with POST /v1/sources")
	}
	return "", fmt.Errorf("there is no source %q: choose one of\n  %s", text, strings.Join(all[:min(len(all), placesMax)], "\n  "))
}

// createImport previews a file, or imports it.
func (s *settings) createImport(ctx context.Context, a *app.App, p imports.Params, in io.ReadSeeker, dry bool) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = in.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	if size > imports.FileMax {
		return fmt.Errorf("%s has %d MiB, but a file may have at most %d: split it", p.FileName, size>>20, imports.FileMax>>20)
	}
	draft, err := a.Imports.Prepare(ctx, p, in, dry)
	if err != nil {
		return places(err)
	}
	if dry {
		bar := s.barOrLines("read")
		preview, err := a.Imports.Preview(ctx, draft, in, func(read int64) { bar.show(read, size) })
		bar.end()
		if err != nil {
			return interrupted(places(err), "nothing was changed")
		}
		s.showPreview(preview)
		return nil
	}
	importID, err := a.Imports.Upload(ctx, draft, in)
	if err != nil {
		return interrupted(err, "nothing was imported")
	}
	made, err := a.Imports.Create(ctx, importID)
	if err != nil {
		return interrupted(errors.Join(err, a.Imports.Discard(ctx, importID)), "nothing was imported")
	}
	return s.follow(ctx, a, made.ID)
}

// followEvery is how often the progress of an import that the service runs is read.
const followEvery = 200 * time.Millisecond

// follow runs an import to its end, or waits while a running service does.
func (s *settings) follow(ctx context.Context, a *app.App, importID string) error {
	bar := s.barOrLines("read")
	show := func(i imports.Import) { bar.show(i.BytesRead, i.FileSize) }
	i, faults, err := a.Imports.Get(ctx, importID)
	for err == nil && !i.Status.Ended() {
		_, err = a.Imports.Run(ctx, actor.From(ctx).OrganizationID, importID, show)
		if errors.Is(err, task.ErrClaimed) {
			err = sleep(ctx, followEvery)
		}
		if err == nil {
			i, faults, err = a.Imports.Get(ctx, importID)
			show(i)
		}
	}
	bar.end()
	if err != nil {
		return interrupted(err, fmt.Sprintf(
			"what was imported stays. Continue with `bursar import transactions%s --resume %s`, or import the file again: "+
				"nothing is added twice",
			s.flags(), importID))
	}
	s.showImported(i, faults)
	if i.Status == imports.Failed {
		return fmt.Errorf("the import failed: %s", i.Error)
	}
	return nil
}
