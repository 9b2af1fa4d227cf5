package intake_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// publicFiles lists files that other projects publish as test data: repository, path, and what reading them gives. The files
// themselves are not ours to distribute. A test reads those that are in the folder publicFolder names, as owner/name/path.
const (
	publicFiles  = "testdata/public.tsv"
	publicFolder = "BURSAR_PUBLIC_FILES"
)

// readPublic reads a file as an import does and returns what it gives in one line: how its layout was determined, how many rows
// were read, skipped and refused, how many stated balances differ, and how many units moved.
func readPublic(t *testing.T, name string, content []byte) string {
	t.Helper()
	if problem := intake.DescribeBinary(content); problem != "" {
		return "refused: " + problem
	}
	var m intake.Mapping
	layout := "known layout"
	if !intake.Detect(name, content).Mapped {
		guessed, err := intake.Guess(content)
		if err != nil {
			return "refused: " + err.Error()
		}
		if m, layout = guessed.Mapping, "guessed layout"; len(guessed.Undecided) > 0 {
			return fmt.Sprintf("undecided: %s", strings.Join(guessed.Undecided, "; "))
		}
	}
	in, err := intake.Open(bytes.NewReader(content), intake.Options{Name: name, Mapping: m, OwnAddresses: ownAddress(content)})
	if err != nil {
		return "refused: " + err.Error()
	}
	if preset := in.Mapping().Preset; preset != "" {
		layout = preset
	}
	var all []intake.Row
	balances, moved := intake.NewBalances(), map[string]money.Decimal{}
	records, skipped, faulty, differ := 0, 0, 0, 0
	for {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "refused: " + err.Error()
		}
		all = append(all, row)
		if balances.Compare(row) != nil {
			differ++
		}
		switch {
		case len(row.Faults) > 0:
			if faulty++; faulty == 1 {
				t.Logf("%s: the first fault is %+v", name, row.Faults[0])
			}
		case row.Skipped != "":
			skipped++
		}
		for _, r := range row.Records {
			records++
			if change := r.Moved(); change != nil {
				moved[r.Currency] = moved[r.Currency].Add(*change)
			}
		}
	}
	validateRecords(t, all)
	var units []string
	for _, currency := range slices.Sorted(maps.Keys(moved)) {
		units = append(units, moved[currency].String()+" "+currency)
	}
	return fmt.Sprintf("%s: %d rows, %d records, %d skipped, %d faulty, %d balances differ: %s", layout, len(all), records, skipped, faulty,
		differ, strings.Join(units, ", "))
}

var addresses = regexp.MustCompile(`0x[0-9a-fA-F]{40}\b`)

// ownAddress returns the address that a file of a block explorer is about: the one that occurs most often.
func ownAddress(content []byte) []string {
	counts, most := map[string]int{}, ""
	for _, a := range addresses.FindAllString(string(content), -1) {
		a = strings.ToLower(a)
		if counts[a]++; counts[a] > counts[most] {
			most = a
		}
	}
	return []string{most}
}

func TestPublicFilesAreReadAsBefore(t *testing.T) {
	t.Parallel()
	folder := os.Getenv(publicFolder)
	if folder == "" {
		t.Skipf("set %s to a folder with the files of %s, as owner/name/path, to run this", publicFolder, publicFiles)
	}
	table, err := os.ReadFile(publicFiles)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	read := 0
	for line := range strings.Lines(string(table)) {
		repository, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		path, want, _ := strings.Cut(rest, "\t")
		content, err := os.ReadFile(filepath.Join(folder, repository, path))
		if err != nil {
			t.Logf("%s %s is not there", repository, path)
			out.WriteString(line)
			continue
		}
		read++
		got := readPublic(t, filepath.Base(path), content)
		if fmt.Fprintf(&out, "%s\t%s\t%s\n", repository, path, got); got != want && !*update {
			t.Errorf("%s %s reads\n%s\nand read before\n%s", repository, path, got, want)
		}
	}
	if read == 0 {
		t.Errorf("none of the files is in %s", folder)
	}
	if *update {
		if err := os.WriteFile(publicFiles, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
