package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// bring are the flags of import transactions.
type bring struct {
	exchange
	source  string
	preset  string
	mapping string
	resume  string
	dry     bool
}

func (s *settings) importTransactions() *cobra.Command {
	b := &bring{}
	c := &cobra.Command{
		Use:   "transactions FILE",
		Short: "Read a file of transactions: CSV, JSON or OFX of a bank, an exchange, a processor or an explorer",
		Long: "Read a file of transactions into a source. The layouts of " + strings.Join(intake.PresetNames(), ", ") + ",\n" +
			"OFX, and JSON in the shape of the API are known; of other files the columns are guessed, and --dry-run shows how, with the " +
			"first transactions.\n" +
			"What is wrong with a row is said and keeps only that row out. To import a file again, or one that overlaps with it, adds " +
			"nothing twice.\n" +
			"Use - for standard input. The service may run or not.",
		Example: "  bursar import transactions kraken.csv --source \"Kraken\" --dry-run\n  bursar import transactions kraken.csv " +
			"--source exs_01jd…\n" +
			"  bursar import transactions bank.csv --source \"Checking\" --mapping mapping.json\n  bursar import transactions --resume imp_01jd…",
		Args: func(c *cobra.Command, args []string) error {
			if b.resume != "" {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return s.bringIn(c, b, args) },
	}
	f := c.Flags()
	f.StringVar(&b.source, "source", "", "id or name of the source, or id of its account")
	f.StringVar(&b.format, "format", "", "csv, json or ofx; without it, the file tells")
	f.StringVar(&b.preset, "preset", "", "a known layout, such as kraken; without it, the file tells")
	f.StringVar(&b.mapping, "mapping", "", "JSON file that says how to read it; without it, that is found out")
	f.StringVar(&b.organization, "organization", "", "id of the organization; may be left out when there is only one")
	f.StringVar(&b.resume, "resume", "", "id of an import that was stopped, to read the rest of it")
	f.BoolVar(&b.dry, "dry-run", false, "say what would come in, and change nothing")
	return c
}

func (s *settings) bringIn(c *cobra.Command, b *bring, args []string) error {
	if b.resume == "" && b.source == "" {
		return &usageError{errors.New("--source is required: the id or the name of the source that the transactions are of"), c.CommandPath()}
	}
	mapping, err := readMapping(b.mapping)
	if err != nil {
		return err
	}
	if err := s.exists(); err != nil {
		return err
	}
	if b.resume != "" {
		return s.with(c.Context(), func(a *app.App) error {
			ctx, err := b.as(c, a)
			if err != nil {
				return err
			}
			return s.follow(ctx, a, b.resume)
		})
	}
	in, err := source(c.Context(), args[0])
	if err != nil {
		return stopped(err, "nothing was imported")
	}
	defer in.close()
	return s.with(c.Context(), func(a *app.App) error {
		ctx, err := b.as(c, a)
		if err != nil {
			return err
		}
		p := imports.Params{FileName: filepath.Base(args[0]), Format: intake.Format(b.format), Preset: b.preset, Mapping: mapping}
		if p.SourceID, err = sourceNamed(ctx, a, b.source); err != nil {
			return err
		}
		return s.bringFile(ctx, a, p, in, b.dry)
	})
}

// readMapping reads a mapping as strictly as the API does.
func readMapping(file string) (*intake.Mapping, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	m := &intake.Mapping{}
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%s is no mapping: %w; see what --dry-run proposes", file, err)
	}
	return m, nil
}

// sourceNamed finds a source by its id, that of its account, or its name.
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
		return "", fmt.Errorf("%d sources are called %q: say which by its id, one of\n  %s", len(named), text, strings.Join(named, "\n  "))
	case len(all) == 0:
		return "", errors.New("there is no source yet: make one with POST /v1/sources")
	}
	return "", fmt.Errorf("there is no source %q: name one of\n  %s", text, strings.Join(all[:min(len(all), placesMax)], "\n  "))
}

// bringFile shows what a file would bring, or brings it.
func (s *settings) bringFile(ctx context.Context, a *app.App, p imports.Params, in io.ReadSeeker, dry bool) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = in.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	if size > imports.FileMax {
		return fmt.Errorf("%s has %d MiB, and a file may have %d: cut it into several", p.FileName, size>>20, imports.FileMax>>20)
	}
	draft, err := a.Imports.Prepare(ctx, p, in, dry)
	if err != nil {
		return places(err)
	}
	if dry {
		bar := s.steps()
		preview, err := a.Imports.Preview(ctx, draft, in, func(read int64) { bar.show(read, size) })
		bar.end()
		if err != nil {
			return stopped(places(err), "nothing was imported, as asked")
		}
		s.showPreview(preview)
		return nil
	}
	importID, err := a.Imports.Upload(ctx, draft, in)
	if err != nil {
		return stopped(err, "nothing was imported")
	}
	made, err := a.Imports.Create(ctx, importID)
	if err != nil {
		return stopped(errors.Join(err, a.Imports.Discard(ctx, importID)), "nothing was imported")
	}
	return s.follow(ctx, a, made.ID)
}

// followEvery is how often an import that somebody else reads is looked at.
const followEvery = 200 * time.Millisecond

// follow reads an import to its end, or watches while a running service does.
func (s *settings) follow(ctx context.Context, a *app.App, importID string) error {
	bar := s.steps()
	show := func(i imports.Import) { bar.show(i.BytesRead, i.FileSize) }
	i, faults, err := a.Imports.Get(ctx, importID)
	for err == nil && !i.Status.Ended() {
		_, err = a.Imports.Run(ctx, actor.From(ctx).OrganizationID, importID, show)
		if errors.Is(err, task.ErrClaimed) {
			err = wait(ctx)
		}
		if err == nil {
			i, faults, err = a.Imports.Get(ctx, importID)
			show(i)
		}
	}
	bar.end()
	if err != nil {
		return stopped(err, fmt.Sprintf(
			"what was read stays. Go on with `bursar import transactions%s --resume %s`, or import the file again: nothing is added twice",
			s.flags(), importID))
	}
	s.showImported(i, faults)
	if i.Status == imports.Failed {
		return fmt.Errorf("the import failed: %s", i.Error)
	}
	return nil
}

func wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(followEvery):
		return nil
	}
}
