package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

func (s *settings) firmTemplates() *cobra.Command {
	c := &cobra.Command{
		Use:   "templates",
		Short: "Offer charts of accounts and rules to clients, and take them over",
		Long: "Offer charts of accounts and sets of rules to the clients of the firm, and take over those that the firm of the organization offers.\n" +
			"A template is written as JSON, as POST /v1/firm/templates takes it.",
		Example: "  bursar firm templates create chart.json\n" +
			"  bursar firm templates apply ftp_01jd… --dry-run --for org_01jd…",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listFirmTemplates(), s.showFirmTemplate(), s.createFirmTemplate(), s.updateFirmTemplate(), s.deleteFirmTemplate(),
		s.applyFirmTemplate())
	return c
}

const offeredUsage = "those of the firm that works for the organization, instead of those of the organization as a firm"

func (s *settings) listFirmTemplates() *cobra.Command {
	r, offered := &remote{}, false
	c := &cobra.Command{
		Use:     "list",
		Short:   "List templates",
		Long:    "List templates in the order in which they were created: the id, the kind, the version, the number of items, and the name.",
		Example: "  bursar firm templates list\n  bursar firm templates list --offered --for org_01jd…",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				all := service.FirmTemplates
				if offered {
					all = service.OfferedTemplates
				}
				return s.printTemplates(all(ctx))
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&offered, "offered", false, offeredUsage)
	return c
}

func (s *settings) printTemplates(all iter.Seq2[client.FirmTemplate, error]) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	count := 0
	for one, err := range all {
		if err != nil {
			return err
		}
		if count++; count == 1 {
			fmt.Fprintln(t, "ID\tKIND\tVERSION\tITEMS\tNAME")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", one.ID, one.Kind, one.Version, one.ItemCount, one.Name)
	}
	if count == 0 {
		fmt.Fprintln(s.err, "There are no templates.")
	}
	return t.Flush()
}

func (s *settings) showFirmTemplate() *cobra.Command {
	r, offered := &remote{}, false
	c := &cobra.Command{
		Use:     "show TEMPLATE",
		Short:   "Show a template as JSON",
		Long:    "Show a template as JSON, with all accounts, tags and rules.",
		Example: "  bursar firm templates show ftp_01jd…\n  bursar firm templates show ftp_01jd… --offered --for org_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				get := service.FirmTemplate
				if offered {
					get = service.OfferedTemplate
				}
				found, err := get(ctx, args[0])
				if err != nil {
					return err
				}
				e := json.NewEncoder(s.out)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				return e.Encode(found)
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&offered, "offered", false, offeredUsage)
	return c
}

// readJSON reads a file of JSON, or standard input for a hyphen. It refuses what the value has no place for.
func readJSON(ctx context.Context, name string, into any) error {
	in, err := openInput(ctx, name)
	if err != nil {
		return err
	}
	defer in.close()
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s is not a template: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s has something after the template", name)
	}
	return nil
}

func (s *settings) createFirmTemplate() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:     "create FILE",
		Short:   "Create a template from a file of JSON",
		Long:    "Create a template from a file of JSON, or from standard input if it is a hyphen. The firm can have 100 templates.",
		Example: "  bursar firm templates create chart.json\n  bursar firm templates create - < rules.json",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			var p client.CreateFirmTemplate
			if err := readJSON(c.Context(), args[0], &p); err != nil {
				return err
			}
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				made, err := service.CreateFirmTemplate(ctx, p)
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "Created %s, %s, with %s.\n", made.Name, made.ID, counted(int(made.ItemCount), "item"))
				return nil
			})
		},
	}
	r.flags(c)
	return c
}

func (s *settings) updateFirmTemplate() *cobra.Command {
	r, file := writing(), ""
	c := &cobra.Command{
		Use:   "update TEMPLATE",
		Short: "Change a template by a file of JSON",
		Long: "Change a template by a file of JSON with the properties that change, as PATCH /v1/firm/templates takes it; a hyphen is standard\n" +
			"input. Clients that have taken it over can apply it again.",
		Example: "  bursar firm templates update ftp_01jd… --file chart.json",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			var p client.UpdateFirmTemplate
			if err := readJSON(c.Context(), file, &p); err != nil {
				return err
			}
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				now, err := service.UpdateFirmTemplate(ctx, args[0], p)
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "%s is at version %s now.\n", now.Name, now.Version)
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&file, "file", "", "file with the changes (required)")
	required(c, "file")
	return c
}

func (s *settings) deleteFirmTemplate() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:     "delete TEMPLATE",
		Short:   "Delete a template",
		Long:    "Delete a template. What clients have taken over stays theirs.",
		Example: "  bursar firm templates delete ftp_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				if err := service.DeleteFirmTemplate(ctx, args[0]); err != nil {
					return err
				}
				fmt.Fprintln(s.out, "The template is deleted.")
				return nil
			})
		},
	}
	r.flags(c)
	return c
}

func (s *settings) applyFirmTemplate() *cobra.Command {
	r, p := writing(), client.ApplyFirmTemplate{}
	c := &cobra.Command{
		Use:   "apply TEMPLATE",
		Short: "Take over a template of the firm that works for the organization",
		Long: "Take over a template of the firm that works for the organization: create the accounts, tags and rules that it lacks. If anything\n" +
			"conflicts with what there is, nothing is created. To apply a template again creates only what is new in it. A template with rules\n" +
			"needs the scope write:operational-rules, and an owner or a partner of the firm.",
		Example: "  bursar firm templates apply ftp_01jd… --dry-run\n  bursar firm templates apply ftp_01jd… --for org_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				done, err := service.ApplyFirmTemplate(ctx, args[0], p)
				if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == "CONFLICT" && len(refused.Fields) > 0 {
					for _, f := range refused.Fields {
						fmt.Fprintf(s.err, "%s: %s\n", f.Field, f.Message)
					}
					return fmt.Errorf("nothing was created, because of %s", counted(len(refused.Fields), "conflict"))
				}
				if err != nil {
					return err
				}
				return s.printApplied(done)
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&p.DryRun, "dry-run", false, "only show what would be created, and every conflict")
	return c
}

func (s *settings) printApplied(a client.AppliedFirmTemplate) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, i := range a.Items {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", i.Status, i.Type, i.Name, orDash(i.Reason))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verb := "Created"
	if a.DryRun {
		verb = "Would create"
	}
	fmt.Fprintf(s.err, "%s %s; %d unchanged, %s.\n", verb, counted(int(a.Created), "item"), a.Unchanged, counted(int(a.Conflicts), "conflict"))
	return nil
}
