package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// groups lists the domain groups from low to high. A group may import itself and the groups below it.
var groups = []string{
	"internal/books", "internal/treasury", "internal/assets", "internal/tenancy", "internal/receivables", "internal/reporting",
	"internal/integration", "internal/automation",
}

// layers lists the folders of the module from low to high: an import may point to the same layer or to a lower one.
var layers = slices.Concat(
	[]string{"internal/base", "internal/rules", "internal/db", "internal/kernel"},
	groups,
	[]string{"internal/provider", "internal/app", "internal/edge", "cmd"},
)

// top lists folders that may import anything and that nothing may import.
var top = []string{"bench", "internal/tools", "internal/arch"}

// domain reports whether a folder is in the kernel or in a domain group, which contain the use cases and their SQL.
func domain(name string) bool { return within(name, "internal/kernel") || within(name, groups...) }

// testOnly lists packages for tests; they must not be part of the binary.
var testOnly = []string{"internal/base/lifecycle/lifecycletest", "internal/base/mail/mailtest", "internal/db/dbtest",
	"internal/edge/api/apitest", "internal/edge/browsertest", "internal/provider/providertest", "internal/provider/stripe/stripetest",
	"internal/provider/binance/binancetest", "internal/provider/bitget/bitgettest", "internal/provider/bitcoin/bitcointest",
	"internal/provider/bitstamp/bitstamptest",
	"internal/provider/coinbase/coinbasetest", "internal/provider/gemini/geminitest", "internal/provider/kraken/krakentest",
	"internal/provider/kucoin/kucointest", "internal/provider/okx/okxtest",
	"internal/provider/brex/brextest", "internal/provider/plaid/plaidtest", "internal/provider/ramp/ramptest",
	"internal/provider/ledgertest", "internal/provider/campfire/campfiretest", "internal/provider/netsuite/netsuitetest",
	"internal/provider/quickbooks/quickbookstest", "internal/provider/rillet/rillettest", "internal/provider/xero/xerotest",
	"internal/provider/solana/solanatest", "internal/provider/evm/evmtest",
	"internal/tenancy/companytest", "internal/tenancy/identity/openidtest"}

func TestImportsPointToTheSameLayerOrDown(t *testing.T) {
	t.Parallel()
	obey(t, checkLayers)
}

func checkLayers(files []*source) []finding {
	var found []finding
	for _, s := range files {
		from, known := layerOf(s.dir())
		if !known && within(s.dir(), "internal") {
			found = append(found, finding{s.path, 1, "is in no layer: add its folder to layers, or move it"})
			continue
		}
		if !known {
			continue // Folders outside internal, such as client, have rules of their own.
		}
		for _, i := range s.imports() {
			to, known := layerOf(i.path)
			if !i.own || !known || to <= from || s.test() && testMayImport(s, i) {
				continue
			}
			found = append(found, finding{s.path, i.line, fmt.Sprintf(
				"imports %s, which is above it: dependencies point down, so that a lower layer can be understood and tested "+
					"without those above it", i.path)})
		}
	}
	return found
}

// testMayImport permits what a test needs for its setup: packages for tests, and for a test of the domain, the whole domain.
func testMayImport(s *source, i imported) bool {
	return within(i.path, testOnly...) || domain(s.dir()) && domain(i.path)
}

// layerOf returns the position of a folder or of an import of the module in layers.
func layerOf(name string) (int, bool) {
	if within(name, top...) {
		return len(layers), true
	}
	at := slices.IndexFunc(layers, func(folder string) bool { return within(name, folder) })
	return at, at >= 0
}

func TestTheLayerRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkLayers,
		sample{"internal/base/money/a.go", importing(module + "/internal/rules/book"), "internal/rules/book, which is above it"},
		sample{"internal/books/journal/a.go", importing(module + "/internal/edge/api"), "dependencies point down"},
		sample{"internal/books/journal/a.go", importing(module + "/internal/provider/kraken"), "dependencies point down"},
		sample{"internal/books/journal/a.go", importing(module + "/internal/treasury/transaction"), "dependencies point down"},
		sample{"internal/kernel/audit/a.go", importing(module + "/internal/books/journal"), "dependencies point down"},
		sample{"internal/db/a_test.go", importing(module + "/internal/books/journal"), "dependencies point down"},
		sample{"internal/edge/api/a.go", importing(module + "/bench"), "above it"},
		sample{"internal/stray/a.go", importing("fmt"), "in no layer"},
		sample{"internal/base/money/a.go", importing(module+"/internal/base/fault", "fmt"), ""},
		sample{"internal/books/journal/a.go", importing(module+"/internal/books/period", module+"/internal/db"), ""},
		sample{"internal/treasury/transaction/a.go", importing(module + "/internal/books/journal"), ""},
		sample{"internal/books/journal/a_test.go", importing(module + "/internal/treasury/transaction"), ""},
		sample{"internal/books/journal/a_test.go", importing(module + "/internal/edge/api/apitest"), ""},
		sample{"internal/books/journal/a_test.go", importing(module + "/internal/app"), "dependencies point down"},
		sample{"cmd/bursar/main.go", importing(module + "/internal/edge/cli"), ""},
		sample{"bench/main.go", importing(module + "/internal/edge/cli"), ""},
		sample{"internal/edge/site/a.go", importing(module + "/web"), ""},
	)
}

func TestEveryGroupSaysWhatBelongsThere(t *testing.T) {
	t.Parallel()
	obey(t, checkGroupDocs)
}

// checkGroupDocs requires a doc.go of each group that has packages.
func checkGroupDocs(files []*source) []finding {
	var found []finding
	for _, group := range append([]string{"internal/kernel"}, groups...) {
		used, said := false, false
		for _, s := range files {
			used = used || s.in(group)
			said = said || s.path == group+"/doc.go"
		}
		if used && !said {
			found = append(found, finding{group + "/doc.go", 1, "is missing: describe in one paragraph what belongs in the group"})
		}
	}
	return found
}

func TestTheGroupDocRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkGroupDocs,
		sample{"internal/books/journal/a.go", "package journal", "internal/books/doc.go:1"},
		sample{"internal/books/doc.go", "package books", ""},
	)
}

func TestPackagesForTestsStayOutOfTheBinary(t *testing.T) {
	t.Parallel()
	obey(t, checkTestOnly)
}

func checkTestOnly(files []*source) []finding {
	var found []finding
	for _, s := range files {
		if s.testing() || s.in("bench") {
			continue
		}
		for _, i := range s.imports() {
			if i.own && within(i.path, testOnly...) {
				found = append(found, finding{s.path, i.line, i.path + " is for tests only: it starts servers and stops the " +
					"program on errors, which the binary must never do"})
			}
		}
	}
	return found
}

func TestTheRuleAboutPackagesForTestsFires(t *testing.T) {
	t.Parallel()
	prove(t, checkTestOnly,
		sample{"internal/app/a.go", importing(module + "/internal/db/dbtest"), "for tests only"},
		sample{"internal/edge/cli/a.go", importing(module + "/internal/edge/api/apitest"), "for tests only"},
		sample{"internal/app/a_test.go", importing(module + "/internal/db/dbtest"), ""},
		sample{"internal/edge/api/apitest/a.go", importing(module + "/internal/db/dbtest"), ""},
		sample{"internal/db/dbtest/with-postgres/main.go", importing(module + "/internal/db/dbtest/pgcluster"), ""},
	)
}

func TestTheClientKnowsOnlyTheWire(t *testing.T) {
	t.Parallel()
	obey(t, checkClient)
}

func checkClient(files []*source) []finding {
	var found []finding
	for _, s := range files {
		for _, i := range s.imports() {
			if s.in("client") && i.own && strings.HasPrefix(i.path, "internal/") {
				found = append(found, finding{s.path, i.line, "client imports " + i.path + ": it may use only what the " +
					"service sends and accepts over HTTP, which proves that the HTTP API is sufficient"})
			}
		}
	}
	return found
}

func TestTheClientRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkClient,
		sample{"client/a.go", importing(module + "/internal/base/money"), "the HTTP API is sufficient"},
		sample{"client/auth/a_test.go", importing(module + "/internal/app"), "the HTTP API is sufficient"},
		sample{"client/a.go", importing("net/http", module+"/client/auth"), ""},
		sample{"clients/a.go", importing(module + "/internal/base/money"), ""},
	)
}
