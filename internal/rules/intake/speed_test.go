package intake_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

// ordinary returns a plain file of twelve columns.
func ordinary(count int) []byte {
	var b bytes.Buffer
	b.WriteString("Transaction ID,Date,Description,Amount,Currency,Category,Counterparty,Reference,Account,Status,Balance,Note\n")
	for n := range count {
		fmt.Fprintf(&b, "TX%08d,2024-%02d-%02d %02d:15:30,Payment of invoice %d,%s%d.%02d,USD,Services,Example Supplier "+
			"Ltd,RF%06d,000123456789,posted,%d.00,paid by transfer\n",
			n, n%12+1, n%28+1, n%24, n, []string{"", "-"}[n%2], n%5000+1, n%100, n, n)
	}
	return b.Bytes()
}

var ordinaryMapping = intake.Mapping{Columns: map[intake.Field]string{
	intake.FieldID: "Transaction ID", intake.FieldTimestamp: "Date", intake.FieldDescription: "Description", intake.FieldAmount: "Amount",
	intake.FieldCurrency: "Currency", intake.FieldProviderCategory: "Category", intake.FieldCounterparty: "Counterparty",
	intake.FieldMemo: "Reference", intake.FieldAccount: "Account",
}}

func readOrdinary(tb testing.TB, content []byte, m intake.Mapping) int {
	tb.Helper()
	in, err := intake.Open(bytes.NewReader(content), intake.Options{Mapping: m})
	if err != nil {
		tb.Fatal(err)
	}
	n := 0
	for {
		row, err := in.Next()
		if err == io.EOF {
			return n
		}
		if err != nil || len(row.Records) != 1 {
			tb.Fatalf("%+v, %v", row, err)
		}
		n++
	}
}

// rowsPerSecond is the minimum that a busy machine must reach; an idle one is several times as fast.
const rowsPerSecond = 30_000

func TestAPlainFileIsReadFast(t *testing.T) {
	t.Parallel()
	const count = 60_000
	content := ordinary(count)
	begin := time.Now()
	if n := readOrdinary(t, content, ordinaryMapping); n != count {
		t.Fatalf("%d rows of %d", n, count)
	}
	rate := int(count / time.Since(begin).Seconds())
	t.Logf("%d rows a second, %d MB", rate, len(content)>>20)
	if rate < rowsPerSecond {
		t.Errorf("%d rows a second, at least %d", rate, rowsPerSecond)
	}
}

func BenchmarkReading100000Rows(b *testing.B) {
	content := ordinary(100_000)
	hashed := ordinaryMapping
	hashed.IgnoreIDs = true
	for name, m := range map[string]intake.Mapping{"ids": ordinaryMapping, "hashes": hashed} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				readOrdinary(b, content, m)
			}
			b.ReportMetric(float64(100_000*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
