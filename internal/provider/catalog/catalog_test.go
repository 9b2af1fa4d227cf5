package catalog_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/catalog"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

var update = flag.Bool("update", false, "rewrite the part of docs/PROVIDERS.md that follows from the connectors")

const (
	document = "../../../docs/PROVIDERS.md"
	// marker begins the part of the document that follows from the connectors.
	marker = "<!-- What follows is written by: go test ./internal/provider/catalog -update -->\n"
)

func TestConnectorsHaveTheNamesOfPlannedProvidersInTheirOrder(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range catalog.All() {
		names = append(names, c.Describe().Name)
		if !slices.Contains(connection.Providers, c.Describe().Name) {
			t.Errorf("%s is not planned", c.Describe().Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(names)) != len(catalog.All()) {
		t.Errorf("%v", names)
	}
}

// Every connector says what could not be checked without the real system, and the document repeats it.
func TestTheDocumentSaysWhatTheConnectorsSay(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, got, found := strings.Cut(string(content), marker)
	if !found {
		t.Fatalf("%s does not contain %q", document, marker)
	}
	var want strings.Builder
	var alike []provider.Description // those of the same words are one section, such as the EVM chains
	titles := map[string][]string{}
	for _, c := range catalog.All() {
		d := c.Describe()
		if titles[d.Advice] == nil {
			alike = append(alike, d)
		}
		titles[d.Advice] = append(titles[d.Advice], d.Title)
	}
	for _, d := range alike {
		describe(&want, strings.Join(titles[d.Advice], ", "), d)
	}
	if got == want.String() {
		return
	}
	if !*update {
		t.Fatal("docs/PROVIDERS.md is not what the connectors say: run go test ./internal/provider/catalog -update")
	}
	if err := os.WriteFile(document, []byte(before+marker+want.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func describe(out *strings.Builder, title string, d provider.Description) {
	out.WriteString("\n## " + title + "\n\n" + d.Advice + "\n\n" +
		"What could not be verified without the real system, and what is not read:\n\n")
	for _, text := range d.Unverified {
		out.WriteString("- " + text + "\n")
	}
}
