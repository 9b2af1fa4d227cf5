package treasury_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// ended waits until an import is over and returns it.
func ended(t *testing.T, n *apitest.Tenant, importID string) client.Import {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		i, err := n.Client.Import(t.Context(), importID)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%+v %v", i, err)
		}
		if i.Status == "completed" || i.Status == "failed" {
			return i
		}
	}
}

func TestAFileIsReadInTheBackgroundAndItsRowsAreAnsweredFor(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.Work(t)
		n := s.Found(t, "mine")
		made := n.NewImport(t)
		if made.Status != "pending" || made.Format != "csv" || made.Progress.FileSize != int64(len(apitest.BankStatement)) ||
			made.FileName != "bank.csv" || made.Preset != nil || *made.CreatedBy != n.Owner.UserID {
			t.Errorf("%+v", made)
		}
		done := ended(t, n, made.ID)
		want := client.ImportCounts{Created: 2, FaultyRows: 1, Errors: 1}
		if done.Status != "completed" || done.Counts != want || done.Progress.Percent != 100 || done.Progress.RowsRead != 3 ||
			done.Progress.BytesRead != int64(len(apitest.BankStatement)) {
			t.Errorf("%+v", done)
		}
		if len(done.Errors) != 1 || done.Errors[0].Line != 4 || *done.Errors[0].Column != "Date" || done.Errors[0].Message == "" {
			t.Errorf("%+v", done.Errors)
		}
		for e, err := range n.Client.ImportErrors(t.Context(), made.ID) {
			if err != nil || e.Line != 4 {
				t.Errorf("%+v %v", e, err)
			}
		}
		again, err := n.Client.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(apitest.BankStatement), FileName: "copy.csv",
			SourceID: made.SourceID})
		if err != nil {
			t.Fatal(err)
		}
		if got := ended(t, n, again.ID).Counts; got.Created != 0 || got.Duplicates != 2 {
			t.Errorf("again: %+v", got)
		}
		var listed []string
		for i, err := range n.Client.Imports(t.Context(), url.Values{"source_id": {made.SourceID}, "status": {"completed"}, "limit": {"1"}}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, i.ID)
		}
		if fmt.Sprint(listed) != fmt.Sprint([]string{again.ID, made.ID}) {
			t.Errorf("%v", listed)
		}
	})
}

func TestAFormNamesTheFaultsOfAllLayersAtOnceAndWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		before := n.AuditCount(t)
		for _, c := range []struct {
			path   string
			form   map[string]any
			fields []string
		}{
			{"/v1/imports", map[string]any{"file": "\x89PNG\r\n\x1a\n\x00", "source_id": "src_gone", "dry_run": "perhaps"},
				[]string{"dry_run", "source_id", "file"}},
			{"/v1/imports", map[string]any{"file": apitest.BankStatement, "source_id": "src_gone", "format": "docx", "surprise": "1"},
				[]string{"format", "surprise", "source_id"}},
			{"/v1/imports", map[string]any{"file": "\x89PNG\r\n\x1a\n\x00", "source_id": "src_gone"}, []string{"source_id", "file"}},
			{"/v1/prices/import", map[string]any{"file": "asset_type,currency,date,price\nETH,USD,soon,1\n", "replace": "perhaps"},
				[]string{"replace", "file, line 2, date"}},
		} {
			body, contentType := apitest.Form(c.form)
			a := s.Send(t, apitest.Request{Method: "POST", Path: c.path, Key: n.Key, Body: body, ContentType: contentType})
			for _, field := range c.fields {
				if a.Status != 400 || !a.Blames(t, field) {
					t.Errorf("%s: %s is not blamed: %d %s", c.path, field, a.Status, a.Body)
				}
			}
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d records were written", after-before)
		}
	})
}

func TestADryRunShowsWhatWouldComeInAndWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		source := n.NewSource(t, client.CreateSource{})
		before := n.AuditCount(t)
		body, contentType := apitest.Form(map[string]any{"file": apitest.BankStatement, "source_id": *source.AccountID, "dry_run": "true"})
		a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/imports", Key: n.Key, Body: body, ContentType: contentType})
		var got struct {
			Data struct {
				DryRun  bool `json:"dry_run"`
				Mapping struct{ Columns map[string]string }
				Counts  client.ImportCounts
				Rows    []struct {
					Line     int
					External struct {
						Direction, Quantity, Currency string
					}
				}
				Errors  []client.ImportError
				Reasons []string
			}
		}
		if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		d := got.Data
		if !d.DryRun || d.Mapping.Columns["amount"] != "Amount" || d.Counts.Created != 2 || len(d.Rows) != 2 || len(d.Errors) != 1 ||
			len(d.Reasons) == 0 {
			t.Errorf("%s", a.Body)
		}
		if r := d.Rows[0]; r.Line != 2 || r.External.Direction != "debit" || r.External.Quantity != "1200.50" || r.External.Currency != "USD" {
			t.Errorf("%+v", r)
		}
		if n.AuditCount(t) != before {
			t.Error("a dry run changed something")
		}
		for i, err := range n.Client.Imports(t.Context(), nil) {
			t.Errorf("%+v %v", i, err)
		}
		p, err := n.Client.PreviewImport(t.Context(),
			client.CreateImport{File: strings.NewReader("Date,Amount,Currency\n01/02/2026,-5.00,USD\n02/03/2026,1.00,USD\n"),
				FileName: "x.csv", SourceID: source.ID})
		if err != nil || len(p.Undecided) != 1 || p.Counts.FaultyRows != 2 {
			t.Errorf("%+v %v", p, err)
		}
		// A mapping that cannot be guessed is required when it matters.
		body, contentType = apitest.Form(map[string]any{"file": "Date,Amount,Currency\n01/02/2026,-5.00,USD\n02/03/2026,1.00,USD\n",
			"source_id": source.ID})
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/imports", Key: n.Key, Body: body,
			ContentType: contentType}); a.Status != 400 || !a.Blames(t, "mapping") || !strings.Contains(string(a.Body), "date_layouts") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestTheSameFormUnderAKeyIsTheSameWhateverMarksItsPartsOff(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		source := n.NewSource(t, client.CreateSource{})
		form := func(boundary, file string, fileFirst bool) apitest.Request {
			parts := []string{
				"Content-Disposition: form-data; name=\"source_id\"\r\n\r\n" + source.ID,
				"Content-Disposition: form-data; name=\"file\"; filename=\"x.csv\"\r\nContent-Type: text/csv\r\n\r\n" + file,
			}
			if fileFirst {
				parts[0], parts[1] = parts[1], parts[0]
			}
			body := "--" + boundary + "\r\n" + strings.Join(parts, "\r\n--"+boundary+"\r\n") + "\r\n--" + boundary + "--\r\n"
			return apitest.Request{Method: "POST", Path: "/v1/imports", Key: n.Key, Body: body,
				ContentType: "multipart/form-data; boundary=" + boundary, Header: http.Header{"Idempotency-Key": {"k"}}}
		}
		first := s.Send(t, form("one", apitest.BankStatement, false))
		again := s.Send(t, form("two", apitest.BankStatement, true))
		if first.Status != 201 || again.Status != 201 || string(first.Body) != string(again.Body) ||
			again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %s\n%d %s", first.Status, first.Body, again.Status, again.Body)
		}
		if other := s.Send(t, form("one", apitest.BankStatement+"\n", false)); other.Status != 409 {
			t.Errorf("%d %s", other.Status, other.Body)
		}
	})
}

func TestAFormThatIsNoneIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		source := n.NewSource(t, client.CreateSource{})
		body, contentType := apitest.Form(map[string]any{"source_id": source.ID, "file": apitest.BankStatement})
		many := map[string]any{"file": apitest.BankStatement, "source_id": source.ID}
		for i := range 100 {
			many[fmt.Sprint("p", i)] = "x"
		}
		tooMany, manyType := apitest.Form(many)
		long, longType := apitest.Form(map[string]any{"file": apitest.BankStatement, "source_id": strings.Repeat("x", 1<<20+1)})
		for name, x := range map[string]struct {
			body, contentType string
			status            int
		}{
			"JSON":                {`{"source_id":"x"}`, "application/json", 415},
			"no type":             {"x", "text/plain", 415},
			"no boundary":         {body, "multipart/form-data", 415},
			"another boundary":    {body, "multipart/form-data; boundary=other", 400},
			"cut off in the file": {body[:strings.Index(body, "Rent")], contentType, 400},
			"cut off at the end":  {body[:len(body)-8], contentType, 400},
			"too many parts":      {tooMany, manyType, 400},
			"too long a part":     {long, longType, 400},
		} {
			if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/imports", Key: n.Key, Body: x.body,
				ContentType: x.contentType}); a.Status != x.status || a.Error(t).Code != "VALIDATION_ERROR" {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
		// An upload that is canceled in the middle of a file leaves nothing either.
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/imports HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			n.Key, contentType, len(body), body[:len(body)/2])
		conn.Close()
		fmt.Fprint(conn, "x")
		a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/imports", Key: n.Key, Body: strings.Replace(body, "name=\"source_id\"",
			"name=\"sauce\"", 1), ContentType: contentType})
		if a.Status != 400 || !a.Blames(t, "sauce") || !a.Blames(t, "source_id") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		for i, err := range n.Client.Imports(t.Context(), nil) {
			t.Errorf("%+v %v", i, err)
		}
	})
}

func TestAnImportOfAnotherLegalEntityIsNotThereForALimitedKey(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made := n.NewImport(t)
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		for entity, seen := range map[string]bool{n.LegalEntity.ID: true, other.ID: false} {
			c := client.New(s.URL, n.Limited(t, entity))
			_, err := c.Import(t.Context(), made.ID)
			if seen != (err == nil) || !seen && !client.IsNotFound(err) {
				t.Errorf("%v: %v", seen, err)
			}
			listed := 0
			for range c.Imports(t.Context(), nil) {
				listed++
			}
			if (listed == 1) != seen {
				t.Errorf("%v: %d listed", seen, listed)
			}
			_, err = c.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(apitest.BankStatement), FileName: "x.csv",
				SourceID: made.SourceID})
			if seen != (err == nil) || !seen && !client.IsNotFound(err) {
				t.Errorf("%v: %v", seen, err)
			}
		}
	})
}

func TestADiskThatCannotStoreFilesIsNotTheCallersFault(t *testing.T) {
	s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{}) // not in parallel with other tests, which also write files
	n := s.Found(t, "mine")
	source := n.NewSource(t, client.CreateSource{})
	t.Setenv("TMPDIR", "/nowhere")
	_, err := n.Client.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(apitest.BankStatement), FileName: "bank.csv",
		SourceID: source.ID})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.RetryAfter == 0 {
		t.Errorf("%v", err)
	}
}

func TestTheObservedBalanceIsTheNewestThatAFileStatesAgainstTheBooksOfItsTime(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.Work(t)
		n := s.Found(t, "mine")
		bank := n.NewSource(t, client.CreateSource{SourceType: "bank", Currency: "USD", LedgerAccountID: n.AccountByCode(t, "1010").ID})
		load := func(file string) {
			t.Helper()
			made, err := n.Client.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(file), FileName: "bank.csv",
				SourceID: bank.ID})
			if err != nil {
				t.Fatal(err)
			}
			if done := ended(t, n, made.ID); done.Status != "completed" || done.Counts.Errors != 0 {
				t.Fatalf("%+v", done)
			}
		}
		want := func(when, text string) {
			t.Helper()
			var got []string
			for b, err := range n.Client.SourceBalances(t.Context(), bank.ID) {
				if err != nil {
					t.Fatal(err)
				}
				one := b.AssetType + " " + b.Book
				if b.Observed != nil {
					one += " observed " + *b.Observed + " at " + (*b.ObservedAt)[:10] + " with " + *b.BookAtObserved + ": " + *b.Difference
				}
				got = append(got, one)
			}
			if strings.Join(got, "; ") != text {
				t.Errorf("%s: %s, want %s", when, strings.Join(got, "; "), text)
			}
		}
		// The newest row first; two rows of the newest day.
		load("Date,Description,Amount,Balance\n2026-01-20,Fee,-5.00,195.00\n2026-01-20,Rent,-50.00,200.00\n2026-01-10,Sale,250.00,250.00\n")
		want("before anything is booked", "USD 0.00 observed 195.00 at 2026-01-20 with 0.00: -195.00")
		l := n.OpenLedger(t)
		l.Post(t, "2026-01-10", "Dr 1010 250; Cr 4010 250")
		l.Post(t, "2026-01-20", "Dr 6080 50; Cr 1010 50")
		want("without the fee", "USD 200.00 observed 195.00 at 2026-01-20 with 200.00: 5.00")
		l.Post(t, "2026-01-20", "Dr 6020 5; Cr 1010 5")
		l.Post(t, "2026-02-01", "Dr 1010 1000; Cr 4010 1000")
		want("with a later entry", "USD 1195.00 observed 195.00 at 2026-01-20 with 195.00: 0.00")
		load("Date,Description,Amount,Balance\n2025-12-30,Sale,7.00,7.00\n2025-12-31,Refund,-7.00,0.00\n") // an older statement
		want("after an older file", "USD 1195.00 observed 195.00 at 2026-01-20 with 195.00: 0.00")
		if found, err := s.App.VerifyOrganization(t.Context(), n.Organization.ID); err != nil || len(found) > 0 {
			t.Errorf("%+v %v", found, err)
		}
	})
}
