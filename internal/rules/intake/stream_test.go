package intake_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

// ahead bounds how far a reader may read ahead of the rows it returned: its head, a buffer, and some margin.
const ahead = 1<<20 + 256<<10

// generated is a file that is generated while it is read, and counts the bytes read.
type generated struct {
	begin, end string
	row        func(n int) string
	rows       int

	next  int
	rest  []byte
	taken int64
	done  bool
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		switch {
		case g.next == 0 && g.begin != "":
			g.rest, g.begin = []byte(g.begin), ""
		case g.next < g.rows:
			g.rest = []byte(g.row(g.next))
			g.next++
		case !g.done:
			g.rest, g.done = []byte(g.end), true
			if g.end == "" {
				return 0, io.EOF
			}
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	g.taken += int64(n)
	return n, nil
}

var simple = intake.Mapping{Currency: "USD", Columns: map[intake.Field]string{
	intake.FieldTimestamp: "date", intake.FieldAmount: "amount", intake.FieldID: "id", intake.FieldDescription: "text"}}

// files returns long files of each format.
func files(count int) map[string]*generated {
	return map[string]*generated{
		"f.csv": {begin: "date,id,text,amount\n", rows: count, row: func(n int) string {
			return fmt.Sprintf("2024-01-05,%d,\"some \"\"text\"\" of\nthe bank\",%d.50\n", n, n)
		}},
		"f.json": {begin: "[\n", end: "{\"date\":\"2024-01-05\",\"id\":\"last\",\"amount\":1}\n]", rows: count, row: func(n int) string {
			return fmt.Sprintf("{\"date\":\"2024-01-05\",\"id\":\"%d\",\"text\":\"some text of the bank\",\"amount\":%d.50},\n", n, n)
		}},
		"f.jsonl": {rows: count, row: func(n int) string {
			return fmt.Sprintf("{\"date\":\"2024-01-05\",\"id\":\"%d\",\"text\":\"some text of the bank\",\"amount\":\"%d.50\"}\n", n, n)
		}},
		"f.ofx": {begin: "OFXHEADER:100\n\n<OFX><STMTRS><CURDEF>USD<BANKTRANLIST>\n", end: "</BANKTRANLIST></STMTRS></OFX>\n",
			rows: count, row: func(n int) string {
				return fmt.Sprintf("<STMTTRN><DTPOSTED>20240105<TRNAMT>%d.50<FITID>%d<NAME>some text of the bank\n</STMTTRN>\n", n, n)
			}},
	}
}

func TestAFileIsStreamed(t *testing.T) {
	t.Parallel()
	const count = 25_000
	for name, file := range files(count) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := intake.Options{Name: name, Mapping: simple}
			if name == "f.ofx" {
				o.Mapping = intake.Mapping{}
			}
			in, err := intake.Open(file, o)
			if err != nil {
				t.Fatal(err)
			}
			n, before := 0, int64(0)
			for {
				row, err := in.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(row.Records) != 1 && n > 0 {
					t.Fatalf("row %d: %+v", n, row)
				}
				n++
				if at := in.Offset(); at < before || at > file.taken || file.taken-at > ahead {
					t.Fatalf("row %d: offset %d after %d, %d taken", n, at, before, file.taken)
				}
				before = in.Offset()
			}
			if n < count || in.Offset() != file.taken {
				t.Errorf("%d rows, offset %d of %d", n, in.Offset(), file.taken)
			}
			if _, err := in.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("behind the end: %v", err)
			}
		})
	}
}

func TestMemoryStaysBoundedWhateverTheLength(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads a long file")
	}
	g := &generated{begin: "date,amount\n", rows: 200_000, row: func(n int) string { return fmt.Sprintf("2024-01-05,%d\n", n+1) }}
	m := simple
	m.Columns = map[intake.Field]string{intake.FieldTimestamp: "date", intake.FieldAmount: "amount"}
	in, err := intake.Open(g, intake.Options{Mapping: m})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := in.Next(); err != nil {
			break
		}
	}
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	if held := stats.HeapAlloc >> 20; held > 120 {
		t.Errorf("%d MiB are held", held)
	}
	runtime.KeepAlive(in)
}

// failing returns an error after its content.
type failing struct{ rest io.Reader }

var errTorn = errors.New("the line is dead")

func (f failing) Read(p []byte) (int, error) {
	n, err := f.rest.Read(p)
	if errors.Is(err, io.EOF) {
		err = errTorn
	}
	return n, err
}

func TestAReadErrorIsReturnedByEveryLaterCall(t *testing.T) {
	t.Parallel()
	for name, file := range files(25_000) {
		o := intake.Options{Name: name, Mapping: simple}
		if name == "f.ofx" {
			o.Mapping = intake.Mapping{}
		}
		in, err := intake.Open(failing{file}, o)
		for err == nil {
			_, err = in.Next()
		}
		_, again := in.Next()
		if !errors.Is(err, errTorn) || again == nil || again.Error() != err.Error() || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, then %v", name, err, again)
		}
	}
	if _, err := intake.Open(failing{strings.NewReader("a")}, intake.Options{}); !errors.Is(err, errTorn) {
		t.Error(err)
	}
}

func TestAFileThatWasCutShortIsNoticed(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"bank.ofx", "card.ofx", "transactions.json"} {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.TrimSpace(content)
		for n := len(content) - 1; n > len(content)/2; n -= 7 {
			in, err := intake.Open(bytes.NewReader(content[:n]), intake.Options{Name: file})
			for err == nil {
				_, err = in.Next()
			}
			if errors.Is(err, io.EOF) {
				t.Errorf("%s cut at %d of %d passes", file, n, len(content))
			}
		}
	}
}

func TestWhatHasNoEndIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	for _, c := range []struct{ name, content, want string }{
		{"f.json", `[{"a":"` + long, "f.json:1: the object that begins here is longer than 1024 KiB"},
		{"f.json", "[\n{}\n{}]", "f.json:3: a comma is missing before the object"},
		{"f.json", "[\n{},\n7]", `f.json:3: expected an object, found "7"`},
		{"f.json", "[{}]\n[", `f.json:2: unexpected "[" after the end of the list`},
		{"f.json", `{"a":1`, "f.json:1: the object that begins here has no end"},
		{"f.json", "{}\n{}\nx", `f.json:3: expected an object, found "x"`},
		{"f.ofx", "<OFX>\n<NAME>" + long, "f.ofx:2: the text that begins here is longer than 64 KiB"},
		{"f.ofx", "<OFX>\n<" + long, "f.ofx:2: the text that begins here is longer than 1 KiB"},
		{"f.ofx", "<OFX>\n<NAME", "f.ofx:2: the tag that begins here has no end"},
		{"f.ofx", "<OFX>\n<NAME><![CDATA[" + long, "f.ofx:2: the text that begins here has no end"},
		{"f.ofx", "<OFX>\n<STMTTRN>" + strings.Repeat("<MEMO>"+strings.Repeat("x", 60_000), 40),
			"f.ofx:2: the transaction that begins here is longer than 1024 KiB"},
		{"f.ofx", "<OFX>\n<NAME>x", "f.ofx:2: the file ends before </OFX>; a part of it is missing"},
	} {
		in, err := intake.Open(strings.NewReader(c.content), intake.Options{Name: c.name})
		for err == nil {
			_, err = in.Next()
		}
		if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.30q: %v, want %q", c.content, err, c.want)
		}
	}
}

func TestObjectsThatAreNotJSONAreFaultsAndTheRestIsRead(t *testing.T) {
	t.Parallel()
	m := intake.Mapping{Currency: "USD", Columns: map[intake.Field]string{intake.FieldTimestamp: "d", intake.FieldAmount: "v.a"}}
	const content = `{"d":"2024-01-05","v":{"a":1.50}}
{"d":"2024-01-05","v":{"a":1.50,"a":2}}
{"d":"2024-01-05" "v":{"a":1}}
{"d":"2024-01-05","v":{"a":"x\u0000"}}
{"v":{"a":1e2},"d":"2024-01-05"}
{"d":"2024-01-05","v":{"a":"\xff"}}
{"d":"2024-01-05","v":{"a":null}}
{"d":"2024-01-05","v":{"a":"1,234"}}
{"d":"2024-01-05","v":{"a":12345678901234567890.123456789}}
`
	all := rows(t, strings.NewReader(strings.ReplaceAll(content, `\xff`, "\xff")), intake.Options{Name: "f.jsonl", Mapping: m})
	want := `in 1.5 USD (1.5-0=1.5 USD)
fault : has "v.a" twice
fault : is not JSON: invalid character '"' after object key:value pair
fault : is not JSON: a text contains a NUL character; remove it
in 100 USD (100-0=100 USD)
fault : is not valid UTF-8; save the file as UTF-8
fault v.a: is empty; every row needs an amount
fault v.a: "1,234" may mean 1.234 or 1234; state the decimal separator of the column in the mapping
in 12345678901234567890.123456789 USD (12345678901234567890.123456789-0=12345678901234567890.123456789 USD)`
	if got := brief(all); got != want {
		t.Errorf("reads\n%s", got)
	}
	for i, row := range all {
		if row.Line != i+1 {
			t.Errorf("row %d is on line %d", i, row.Line)
		}
	}
}

func TestIDsAreTheSameEachTimeAndInOverlappingFiles(t *testing.T) {
	t.Parallel()
	m := intake.Mapping{Currency: "USD", Columns: map[intake.Field]string{intake.FieldTimestamp: "d", intake.FieldAmount: "a"}}
	ids := func(content string) []string {
		var all []string
		for _, row := range rows(t, strings.NewReader(content), intake.Options{Mapping: m}) {
			for _, r := range row.Records {
				all = append(all, r.ExternalID)
			}
		}
		return all
	}
	january := ids("d,a\n2024-01-05,1\n2024-01-05,1\n2024-01-06,1\n")
	longer := ids("d,a\n2023-12-31,9\n2024-01-05,1\n2024-01-05,1\n2024-01-06,1\n2024-01-05,1\n")
	if january[0] == january[1] || january[1] == january[2] || len(january[0]) != 32 {
		t.Errorf("%q", january)
	}
	if strings.Join(longer[1:4], " ") != strings.Join(january, " ") || longer[4] == january[1] || longer[4] == january[0] {
		t.Errorf("%q, then %q", january, longer)
	}
}

func TestWhatTheHeadDecidesAppliesToTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	g := func() *generated {
		return &generated{begin: "date;amount\n", rows: 3000, row: func(n int) string {
			switch {
			case n < 2000:
				return "05/31/2024;0.5\n"
			case n == 2000:
				return "05/06/2024;1,234\n"
			case n == 2001:
				return "31/05/2024;1,5\n"
			}
			return "05/31/2024;2.500\n"
		}}
	}
	m := intake.Mapping{Currency: "USD", Columns: map[intake.Field]string{intake.FieldTimestamp: "date", intake.FieldAmount: "amount"}}
	all := rows(t, g(), intake.Options{Mapping: m})
	if got := brief(all[2000:2003]); got != `in 1234 USD (1234-0=1234 USD)
fault date: "31/05/2024" is a day that does not exist & amount: "1,5" does not fit the decimal separator '.' of its column
in 2.5 USD (2.5-0=2.5 USD)` {
		t.Errorf("reads\n%s", got)
	}
	if at := all[2000].Records[0].Timestamp; at.Month() != 5 || at.Day() != 6 {
		t.Errorf("%s", at)
	}
}

func TestTheHeadDoesNotDependOnTheSizeOfReads(t *testing.T) {
	t.Parallel()
	// The only value that decides the format is directly after the head.
	var b bytes.Buffer
	b.WriteString("date,text,amount\n")
	for b.Len() < 1<<20 {
		fmt.Fprintf(&b, "2024-01-05,%s,\"1,234\"\n", strings.Repeat("x", 5000))
	}
	b.WriteString("2024-01-05,x,1.5\n")
	m := intake.Mapping{Currency: "USD", Columns: map[intake.Field]string{intake.FieldTimestamp: "date", intake.FieldAmount: "amount"}}
	whole := brief(rows(t, bytes.NewReader(b.Bytes()), intake.Options{Mapping: m}))
	if trickled := brief(rows(t, byteReader(b.Bytes()), intake.Options{Mapping: m})); trickled != whole ||
		!strings.HasPrefix(whole, "fault amount") {
		t.Errorf("reads\n%.200s\nand\n%.200s", whole, trickled)
	}
}
