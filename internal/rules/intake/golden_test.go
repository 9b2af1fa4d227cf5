package intake_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rows reads a whole file.
func rows(tb testing.TB, r io.Reader, o intake.Options) []intake.Row {
	tb.Helper()
	in, err := intake.Open(r, o)
	if err != nil {
		tb.Fatal(err)
	}
	var all []intake.Row
	for {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, row)
	}
}

// show formats rows the way an accountant would check them.
func show(all []intake.Row) string {
	var b strings.Builder
	for _, row := range all {
		fmt.Fprintf(&b, "line %d\n", row.Line)
		if row.Skipped != "" {
			fmt.Fprintf(&b, "  skipped: %s\n", row.Skipped)
		}
		for _, f := range row.Faults {
			fmt.Fprintf(&b, "  fault in %q: %s\n", f.Column, f.Message)
		}
		for i := range row.Records {
			showRecord(&b, &row.Records[i])
		}
	}
	return b.String()
}

func showRecord(b *strings.Builder, r *intake.Record) {
	direction := "out"
	if r.Inflow {
		direction = "in"
	}
	quantity := "?"
	if r.Quantity != nil {
		quantity = r.Quantity.Fixed(r.Currency)
	}
	fmt.Fprintf(b, "  %s  %-3s %s %s", r.Timestamp.Format("2006-01-02 15:04:05.999"), direction, quantity, r.Currency)
	if r.Crypto != nil && r.Crypto.FeeQuantity != nil {
		fmt.Fprintf(b, " with a fee of %s %s", r.Crypto.FeeQuantity, r.Crypto.FeeAssetType)
	}
	if v := r.Value; v != nil {
		fmt.Fprintf(b, "  = %s gross - %s fee = %s net %s", v.Gross.Fixed(v.Currency), v.Fee.Fixed(v.Currency), v.Net.Fixed(v.Currency),
			v.Currency)
	}
	fmt.Fprintf(b, "\n      id %s", r.ExternalID)
	for _, part := range [][2]string{{"type", r.Type}, {"group", r.Group}, {"category", r.ProviderCategory}, {"vendor", r.Vendor},
		{"text", r.Description}, {"memo", r.Memo}} {
		if part[1] != "" {
			fmt.Fprintf(b, " | %s %q", part[0], part[1])
		}
	}
	if c := r.Crypto; c != nil && c.Chain+c.TransactionHash+c.From+c.To+c.ContractAddress != "" {
		fmt.Fprintf(b, "\n      chain %s block %d hash %s from %s to %s asset %s contract %s token %s", c.Chain, c.BlockNumber,
			c.TransactionHash, c.From, c.To,
			c.AssetType, c.ContractAddress, c.TokenID)
	}
	if r.Bank != nil {
		fmt.Fprintf(b, "\n      bank %+v", *r.Bank)
	}
	if r.Card != nil {
		fmt.Fprintf(b, "\n      card %+v", *r.Card)
	}
	b.WriteByte('\n')
}

// validateRecords validates the invariants of every record.
func validateRecords(tb testing.TB, all []intake.Row) {
	tb.Helper()
	validateRows(tb, all)
}

// validateRows is validateRecords for tests that only have Errorf.
func validateRows(tb interface{ Errorf(string, ...any) }, all []intake.Row) {
	seen := map[string]bool{}
	for _, row := range all {
		told := 0
		for _, yes := range []bool{len(row.Records) > 0, len(row.Faults) > 0, row.Skipped != ""} {
			if yes {
				told++
			}
		}
		if told != 1 {
			tb.Errorf("line %d has %d records, %d faults and is skipped for %q", row.Line, len(row.Records), len(row.Faults), row.Skipped)
		}
		for i := range row.Records {
			r := &row.Records[i]
			if seen[r.ExternalID] || r.ExternalID == "" {
				tb.Errorf("line %d: the id %q is there twice or empty", row.Line, r.ExternalID)
			}
			seen[r.ExternalID] = true
			if v := r.Value; v != nil && (!v.Gross.Equal(v.Net.Add(v.Fee)) || v.Fee.Sign() < 0 || v.Net.Sign() < 0 || !money.IsFiat(v.Currency)) {
				tb.Errorf("line %d: %s is not %s + %s", row.Line, v.Gross, v.Net, v.Fee)
			}
			if r.Quantity != nil && r.Quantity.Sign() <= 0 || r.Currency == "" || r.Timestamp.IsZero() || r.Line != row.Line {
				tb.Errorf("line %d: quantity %v of %q at %s, line %d", row.Line, r.Quantity, r.Currency, r.Timestamp, r.Line)
			}
		}
	}
}

const wallet = "0xabcdef0000000000000000000000000000000001"

func TestEveryKnownLayoutIsReadAsAnAccountantWould(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"coinbase.csv", "kraken.csv", "binance.csv", "etherscan.csv", "etherscan_tokens.csv", "mercury.csv",
		"stripe.csv",
		"bank.ofx", "card.ofx", "transactions.json"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			o := intake.Options{Name: file, OwnAddresses: []string{wallet}}
			all := rows(t, bytes.NewReader(content), o)
			validateRecords(t, all)
			got := show(all)
			golden := filepath.Join("testdata", file+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s reads\n%s", file, got)
			}
			if again := show(rows(t, byteReader(content), o)); again != got {
				t.Errorf("%s read byte by byte differs:\n%s", file, again)
			}
		})
	}
}

// byteReader returns one byte at a time, and then a separate io.EOF.
func byteReader(content []byte) io.Reader { return &trickle{content} }

type trickle struct{ rest []byte }

func (r *trickle) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	p[0], r.rest = r.rest[0], r.rest[1:]
	return 1, nil
}
