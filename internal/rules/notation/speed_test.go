package notation_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// ordinary returns the nth entry of a typical journal: every fourth in a foreign currency.
func ordinary(n int) *notation.Entry {
	amount := money.FromInt(int64(n%90000+100)).Quo(money.FromInt(8), 2)
	e := &notation.Entry{
		ID: fmt.Sprintf("je_01HZX3V7K8Q2M4N6P8R0%06d", n), Number: fmt.Sprintf("JE-%d", n), Date: fmt.Sprintf("2024-%02d-%02d", n%12+1, n%28+1),
		Instant: "2024-01-31T12:00:00Z", Posted: true, Memo: "Invoice of a supplier", Entity: "Acme Inc",
		Tags: []notation.Tag{{Kind: "Department", Name: "Research"}},
		Postings: []notation.Posting{
			{Account: []string{"Expenses", "Services", "Hosting"}, Debit: true, Amount: amount, Currency: "USD", Memo: "servers"},
			{Account: []string{"Assets", "Cash", "Bank: EUR; main"}, Amount: amount, Currency: "USD"},
		},
	}
	if n%4 == 0 {
		base := amount
		e.Postings[1].Amount, e.Postings[1].Currency = amount.Mul(money.MustParse("0.91")), "EUR"
		e.Postings[1].Base, e.Postings[1].BaseCurrency = &base, "USD"
	}
	return e
}

func writeOrdinary(tb testing.TB, format notation.Format, out io.Writer, count int) {
	tb.Helper()
	w := notation.NewWriter(format, out)
	for n := range count {
		if err := w.Entry(ordinary(n)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkWriting100000Entries(b *testing.B) {
	for _, format := range notation.Formats {
		b.Run(string(format), func(b *testing.B) {
			for b.Loop() {
				writeOrdinary(b, format, io.Discard, 100_000)
			}
		})
	}
}

func BenchmarkReading100000Entries(b *testing.B) {
	for _, format := range notation.Formats {
		b.Run(string(format), func(b *testing.B) {
			var text bytes.Buffer
			writeOrdinary(b, format, &text, 100_000)
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				for _, err := range notation.Read(format, "bench", bytes.NewReader(text.Bytes())) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
