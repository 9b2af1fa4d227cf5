// Package cli is the command line. Each command parses its flags, calls a use case and prints the result.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
)

// version is set by the build.
var version = "dev"

// settings are the flags that all commands share, and where they print.
type settings struct {
	data          string
	databaseURL   string
	allowDataLoss bool
	slowStatement time.Duration
	logLevel      string
	logFormat     string
	service       string // the address of the running service that a command uses

	out, err io.Writer
}

// Main runs one command and returns its exit code: 0 for success, 1 for failure, 2 for wrong usage.
func Main(args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &settings{out: out, err: errOut}
	root := s.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "bursar: %s\nRun `%s --help` for usage.\n", err, usage.command)
		return 2
	}
	fmt.Fprintf(errOut, "bursar: %s\n", explain(err))
	return 1
}

// usageError says that a command was called with wrong arguments or flags.
type usageError struct {
	error
	command string
}

// explain adds the cause of a fault. A response over HTTP hides it, but here the reader operates the service.
func explain(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && errors.Unwrap(f) != nil {
		return f.Error() + ": " + errors.Unwrap(f).Error()
	}
	return err.Error()
}

func (s *settings) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "bursar",
		Short: "Self-hosted accounting and treasury for crypto-native companies",
		Long: "Bursar keeps exact double-entry books for companies that hold crypto: wallets, exchanges, banks and cards.\n" +
			"It stores everything in SQLite, in the folder --data, or in PostgreSQL with --database-url.",
		Example: "  bursar demo    # try it: a running service with a demo company\n" +
			"  bursar init --organization \"Acme\" --email you@acme.example\n  bursar serve",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &usageError{err, c.CommandPath()} })
	f := root.PersistentFlags()
	text(f, &s.data, "data", "BURSAR_DATA", "./data", "folder of the SQLite database")
	text(f, &s.databaseURL, "database-url", "BURSAR_DATABASE_URL", "",
		"address of a PostgreSQL database to use instead of SQLite, such as postgres://user:password@host/name")
	text(f, &s.logLevel, "log-level", "BURSAR_LOG_LEVEL", "",
		"log messages from this level on: debug, info, warn or error; by default, info for the service and warn otherwise")
	text(f, &s.logFormat, "log-format", "BURSAR_LOG_FORMAT", "auto",
		"log format: json, pretty, or auto, which is pretty on a terminal and json elsewhere")
	f.BoolVar(&s.allowDataLoss, "allow-data-loss-on-crash", false,
		"accept a PostgreSQL server with fsync or synchronous_commit off, which can lose acknowledged writes")
	root.AddCommand(s.serve(), s.init(), s.demo(), s.migrate(), s.verify(), s.anchor(), s.keys(), s.secrets(), s.members(), s.invitations(),
		s.oauthClients(), s.connectAccount(), s.connections(), s.firm(), s.importJournal(), s.exportJournal(), s.events(), s.webhooks(),
		s.backup(), s.version())
	wrapArgs(root)
	return root
}

// wrapArgs turns a missing or unexpected argument into a usage error.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return &usageError{err, c.CommandPath()}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// oneArg requires the one argument that the usage line of a command names.
func oneArg(c *cobra.Command, args []string) error {
	_, name, _ := strings.Cut(c.Use, " ")
	switch {
	case len(args) == 0:
		return fmt.Errorf("%s needs one argument, %s", c.CommandPath(), name)
	case len(args) > 1:
		return fmt.Errorf("%s takes one argument, %s, but got %d: %s", c.CommandPath(), name, len(args), strings.Join(args, " "))
	}
	return nil
}

// noArgs refuses arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, but got %s", c.CommandPath(), strings.Join(args, " "))
}

// knownCommand refuses the name of a command that does not exist, and suggests similar ones.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s has no command %q", c.CommandPath(), args[0])
	c.SuggestionsMinimumDistance = 2 // letters that may differ
	if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
		text += "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return errors.New(text)
}

// text defines a flag whose value an environment variable can set; the flag takes precedence.
func text(f *pflag.FlagSet, into *string, name, variable, initial, usage string) {
	f.StringVar(into, name, initial, usage+" ("+variable+")")
	if v, ok := os.LookupEnv(variable); ok {
		*into = v // not the default of the flag, because --help must not print a password
	}
}

// logger returns the logger that the flags describe. Without --log-level, it logs messages from the given level on.
func (s *settings) logger(level slog.Level) (*slog.Logger, error) {
	if err := level.UnmarshalText([]byte(cmp.Or(s.logLevel, level.String()))); err != nil {
		return nil, &usageError{fmt.Errorf("--log-level must be debug, info, warn or error, not %q", s.logLevel), "bursar"}
	}
	terminal := false
	if f, ok := s.err.(*os.File); ok {
		terminal = isTerminal(f)
	}
	switch {
	case s.logFormat == "pretty" || s.logFormat == "auto" && terminal:
		return slog.New(tint.NewTextHandler(s.err, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !terminal})), nil
	case s.logFormat == "json" || s.logFormat == "auto":
		return slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{Level: level})), nil
	}
	return nil, &usageError{fmt.Errorf("--log-format must be json, pretty or auto, not %q", s.logFormat), "bursar"}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// exists returns an error if there is no SQLite database, so that a mistyped folder does not create an empty one.
func (s *settings) exists() error {
	if s.databaseURL != "" {
		return nil
	}
	_, err := os.Stat(filepath.Join(s.data, db.File))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database in %s: set its folder with --data, or create one with `bursar init`, or for an archive an "+
			"empty one with `bursar migrate`", s.data)
	case err != nil:
		return fmt.Errorf("the database in %s cannot be read: %w", s.data, err)
	}
	return nil
}

// open opens the database that the flags name.
func (s *settings) open(log *slog.Logger) (*db.DB, error) {
	return db.Open(db.Config{URL: s.databaseURL, Dir: s.data, AllowDataLoss: s.allowDataLoss, Log: log,
		SlowStatement: s.slowStatement})
}

// creating creates the database if there is none, migrates it if necessary and runs fn. Commands other than those that set up a
// database use with or reading.
func (s *settings) creating(ctx context.Context, fn func(*app.App) error) error {
	return s.connect(ctx, (*db.DB).Prepare, fn)
}

// with migrates a database that exists if necessary and runs fn.
func (s *settings) with(ctx context.Context, fn func(*app.App) error) error {
	if err := s.exists(); err != nil {
		return err
	}
	return s.creating(ctx, fn)
}

// reading runs fn on a database that exists and is up to date. It does not migrate it.
func (s *settings) reading(ctx context.Context, fn func(*app.App) error) error {
	if err := s.exists(); err != nil {
		return err
	}
	return s.connect(ctx, (*db.DB).Attach, fn)
}

func (s *settings) connect(ctx context.Context, how func(*db.DB, context.Context) error, fn func(*app.App) error) error {
	log, err := s.logger(slog.LevelWarn) // progress and results are printed, not logged
	if err != nil {
		return err
	}
	d, err := s.open(log)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := how(d, ctx); err != nil {
		return err
	}
	a := app.New(d, log)
	api.DescribeEvents(a)
	return fn(a)
}

// flags returns the flags that name the same database, for commands that are suggested to the user.
func (s *settings) flags() string {
	var out []string
	if s.databaseURL != "" {
		out = append(out, "--database-url \"$BURSAR_DATABASE_URL\"") // the address may hold a password
	} else if s.data != "./data" {
		out = append(out, "--data "+s.data)
	}
	if s.allowDataLoss {
		out = append(out, "--allow-data-loss-on-crash")
	}
	if len(out) == 0 {
		return ""
	}
	return " " + strings.Join(out, " ")
}
