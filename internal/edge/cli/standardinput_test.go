package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/cli"
)

// fileInput is a command that reads a file. FILE in its arguments stands for the name of the file or -.
type fileInput struct {
	name, text string
	args       []string
	imports    string // part of what it prints when it has read everything
}

// fileInputs has a row for every argument and flag that names a file to read. The test below fails if one is missing.
func fileInputs(t *testing.T) map[string]fileInput {
	t.Helper()
	const transactions = "Date,Description,Amount\n2026-01-05,Rent,-1200.00\n2026-01-06,Wire from a customer,5000.00\n"
	statement := aFile(t, "statement.csv", transactions)
	const invoices = "Number,Customer,Date,Amount\nA1,Northwind,2026-01-05,50.00\n"
	return map[string]fileInput{
		"bursar import FILE": {name: "books.journal", imports: "Imported 1 entry",
			text: "2026-01-05 * Rent\n    Expenses:Rent  10.00 USD\n    Assets:Bank  -10.00 USD\n",
			args: []string{"import", "FILE", "--format", "hledger"}},
		"bursar import invoices FILE": {name: "invoices.csv", imports: "1 invoice and 1 customer created", text: invoices,
			args: []string{"import", "invoices", "FILE", "--account", "4010"}},
		"bursar import invoices --mapping": {name: "mapping.json", imports: "1 invoice and 1 customer created",
			text: `{"columns": {"invoice_number": "Number", "customer_name": "Customer", "invoice_date": "Date", "amount": "Amount"}}`,
			args: []string{"import", "invoices", aFile(t, "to map.csv", invoices), "--account", "4010", "--mapping", "FILE"}},
		"bursar import prices FILE": {name: "prices.csv", imports: "Imported 2 prices",
			text: "asset_type,currency,date,price\nBTC,USD,2026-01-31,64250.12\nETH,USD,2026-01-31,2450\n",
			args: []string{"import", "prices", "FILE"}},
		"bursar import transactions FILE": {name: "bank.csv", imports: "imported 2 transactions of 2 rows", text: transactions,
			args: []string{"import", "transactions", "FILE", "--source", "Checking", "--format", "csv"}},
		"bursar import transactions --mapping": {name: "mapping.json", imports: "imported 2 transactions of 2 rows",
			text: `{"format": "csv", "columns": {"timestamp": "Date", "description": "Description", "amount": "Amount"}, "currency": "USD"}`,
			args: []string{"import", "transactions", statement, "--source", "Checking", "--mapping", "FILE"}},
	}
}

// notRead are the files that commands create, or whose content a server needs before it starts, or gets from the command: other tests read
// those.
var notRead = []string{"bursar backup NEW-FILE", "bursar export --output", "bursar serve --tls-cert", "bursar serve --tls-key",
	"bursar demo --tls-cert", "bursar demo --tls-key", "bursar serve --breached-passwords", "bursar demo --breached-passwords",
	"bursar firm templates create FILE", "bursar firm templates update --file"}

func TestEveryFileArgumentReadsStandardInputLikeTheFile(t *testing.T) {
	t.Parallel()
	rows := fileInputs(t)
	walk(cli.Commands(), func(c *cobra.Command) {
		var inputs []string
		for _, word := range strings.Fields(c.Use)[1:] {
			if strings.Contains(word, "FILE") {
				inputs = append(inputs, c.CommandPath()+" "+word)
			}
		}
		for _, f := range fileFlags(c) {
			inputs = append(inputs, c.CommandPath()+" --"+f)
		}
		for _, name := range inputs {
			if _, ok := rows[name]; !ok && !slices.Contains(notRead, name) {
				t.Errorf("%s: add a row to fileInputs", name)
			}
		}
	})
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := aFile(t, row.name, row.text)
			byName := readWith(t, row, file, nil)
			if !strings.Contains(byName, row.imports) {
				t.Errorf("it prints %q, without %q", byName, row.imports)
			}
			opened, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			for kind, stdin := range map[string]func(*exec.Cmd){
				"a pipe":         func(c *exec.Cmd) { c.Stdin = strings.NewReader(row.text) },
				"a file":         func(c *exec.Cmd) { c.Stdin = opened },
				"nothing, empty": nil,
			} {
				got := readWith(t, row, "-", stdin)
				if stdin == nil && got == byName {
					t.Errorf("an empty standard input reads like the file: %q", got)
				}
				if stdin != nil && got != byName {
					t.Errorf("standard input from %s gives %q, the file %q", kind, got, byName)
				}
			}
		})
	}
}

// fileFlags returns the flags of a command whose help text says that they name a file.
func fileFlags(c *cobra.Command) (names []string) {
	for _, line := range strings.Split(c.LocalNonPersistentFlags().FlagUsages(), "\n") {
		if m := fileFlagRe.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

var (
	fileFlagRe = regexp.MustCompile(`--([a-z-]+) string +(?:JSON file|file|certificate file|private key file)\b`)
	importRe   = regexp.MustCompile(`\b(imp|je)_[0-9a-z]+`)
)

// readWith runs a command on new books and returns what it prints, without ids and the name of the file.
func readWith(t *testing.T, row fileInput, file string, stdin func(*exec.Cmd)) string {
	t.Helper()
	c := dbtest.SQLite(t)
	withSource(t, c)
	args := slices.Clone(row.args)
	args[slices.Index(args, "FILE")] = file
	cmd := command(t, nil, on(c, args...))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if stdin != nil {
		stdin(cmd)
	}
	_ = cmd.Run() // an empty input is an error
	return strings.ReplaceAll(importRe.ReplaceAllString(out.String(), "${1}_…"), filepath.Base(file), "FILE")
}
