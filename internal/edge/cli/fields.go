package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

// fieldFlags are values of fields of a provider that were given as flags.
type fieldFlags struct{ texts, files []string }

func (f *fieldFlags) flags(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.texts, "field", nil,
		"value of a field, as name=value; name=- asks for it, or reads it as a line of standard input, as secrets have to be; may be repeated")
	c.Flags().StringArrayVar(&f.files, "field-file", nil,
		"file with the value of a field, as name=FILE, such as a private key; may be repeated")
}

// entry collects the values of fields.
type entry struct {
	*dialog
	provider client.Provider
	asked    map[string]bool   // fields that are to be asked for
	values   map[string]string // by field

	consequence string // of an interruption
}

// entry returns what the flags say about the fields of a provider.
func (f *fieldFlags) entry(c *cobra.Command, d *dialog, p client.Provider) (*entry, error) {
	e := &entry{dialog: d, provider: p, asked: map[string]bool{}, values: map[string]string{}, consequence: "nothing was connected"}
	for n, text := range append(slices.Clone(f.texts), f.files...) {
		flag, fromFile := "--field", n >= len(f.texts)
		if fromFile {
			flag = "--field-file"
		}
		name, value, ok := strings.Cut(text, "=")
		at := slices.IndexFunc(p.Fields, func(f client.ProviderField) bool { return f.Name == name })
		switch {
		case !ok || value == "":
			return nil, &usageError{fmt.Errorf("%s must be the name of a field and its value, such as address=0x…, not %q", flag, name),
				c.CommandPath()}
		case at < 0:
			return nil, &usageError{fmt.Errorf("%s has no field %q: choose from %s", p.Title, name, strings.Join(fieldNames(p), ", ")),
				c.CommandPath()}
		case e.values[name] != "" || e.asked[name]:
			return nil, &usageError{fmt.Errorf("the field %s is given more than once", name), c.CommandPath()}
		case fromFile:
			content, err := readSecretFile(value)
			if err != nil {
				return nil, fmt.Errorf("--field-file %s: %w", name, err)
			}
			e.values[name] = content
		case value == standard:
			e.asked[name] = true
		case p.Fields[at].Secret:
			return nil, &usageError{fmt.Errorf("others on this machine can read the arguments of a command: give the secret %s with "+
				"--field %[1]s=-, which asks for it or reads it from standard input, or with --field-file %[1]s=FILE", name), c.CommandPath()}
		default:
			e.values[name] = value
		}
	}
	return e, nil
}

func fieldNames(p client.Provider) []string {
	out := make([]string, len(p.Fields))
	for n, f := range p.Fields {
		out[n] = f.Name
	}
	return out
}

// fill asks for the fields that are missing: of those for the setup of the organization, or of the others. On a terminal it also asks for
// what is optional, unless the account is connected on a page.
func (e *entry) fill(ctx context.Context, setup bool) error {
	for _, f := range e.provider.Fields {
		if f.Setup != setup || e.values[f.Name] != "" {
			continue
		}
		if f.Required || e.asked[f.Name] || e.terminal && !e.provider.Hosted {
			if err := e.enter(ctx, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter asks for a field until there is an answer.
func (e *entry) enter(ctx context.Context, f client.ProviderField) error {
	optional := !f.Required && !e.asked[f.Name]
	if e.terminal && f.Help != nil {
		fmt.Fprintf(e.out, "\n%s\n", *f.Help)
	}
	question := f.Title
	if optional {
		question += " (optional, Enter to leave it out)"
	}
	for {
		text, err := e.answer(ctx, f, question+": ")
		switch {
		case errors.Is(err, errNoAnswer):
			value := "…"
			if f.Secret {
				value = standard
			}
			return fmt.Errorf("the %s is missing: %s needs it; give it with --field %s=%s, with --field-file %[3]s=FILE, or as a line of "+
				"standard input", f.Title, e.provider.Title, f.Name, value)
		case err != nil:
			return interrupted(err, e.consequence)
		case text != "":
			e.values[f.Name] = text
			return nil
		case optional:
			return nil
		case !e.terminal:
			return fmt.Errorf("the %s is empty: %s needs it", f.Title, e.provider.Title)
		}
	}
}

func (e *entry) answer(ctx context.Context, f client.ProviderField, question string) (string, error) {
	if len(f.Choices) == 0 || !e.terminal {
		return e.ask(ctx, question, f.Secret)
	}
	options := make([]option, len(f.Choices))
	for n, c := range f.Choices {
		options[n] = option{value: c, title: c}
	}
	return e.choose(ctx, question, options)
}

// again asks once more for the fields that the service has refused, and reports whether there were some.
func (e *entry) again(ctx context.Context, refused error) (bool, error) {
	said, ok := errors.AsType[*client.Error](refused)
	if !ok || !e.terminal {
		return false, nil
	}
	some := false
	for _, f := range e.provider.Fields {
		at := slices.IndexFunc(said.Fields, func(bad client.Field) bool { return bad.Field == f.Name })
		if at < 0 || f.Setup {
			continue
		}
		text := faultOf("The "+f.Title, said.Fields[at].Message)
		if said.Status == http.StatusConflict {
			text = said.Message
		}
		fmt.Fprintf(e.out, "\n%s.\n", strings.TrimSuffix(text, "."))
		some = true
		delete(e.values, f.Name)
		if err := e.enter(ctx, f); err != nil {
			return false, err
		}
	}
	if some { // a key and its secret belong together
		for _, f := range e.provider.Fields {
			if f.Secret && f.Required && !f.Setup && !slices.ContainsFunc(said.Fields, func(bad client.Field) bool { return bad.Field == f.Name }) {
				delete(e.values, f.Name)
				if err := e.enter(ctx, f); err != nil {
					return false, err
				}
			}
		}
	}
	return some, nil
}
