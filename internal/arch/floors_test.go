package arch

import (
	"fmt"
	"strings"
	"testing"
)

// floors are the folders of the house from the bottom up: an import may point to the same floor or down.
var floors = map[string]int{
	"internal/base":     1,
	"internal/rules":    2,
	"internal/db":       3,
	"internal/area":     4,
	"internal/provider": 5,
	"internal/app":      6,
	"internal/edge":     7,
	"cmd":               8,
	"bench":             roof,
	"internal/tools":    roof,
	"internal/arch":     roof,
}

// roof is above all: those may import anything, and nothing may import them.
const roof = 9

// testOnly are packages for tests; they must not reach the binary.
var testOnly = []string{"internal/db/dbtest", "internal/edge/api/apitest"}

func TestImportsPointToTheSameFloorOrDown(t *testing.T) {
	t.Parallel()
	obey(t, checkFloors)
}

func checkFloors(files []*source) []finding {
	var found []finding
	for _, s := range files {
		from, known := floorOf(s.dir())
		if !known && within(s.dir(), "internal") {
			found = append(found, finding{s.path, 1, "is on no floor: give its folder a place in floors, or move it"})
			continue
		}
		if !known {
			continue // Folders outside the house, such as client, have a rule of their own.
		}
		for _, i := range s.imports() {
			to, known := floorOf(i.path)
			if !i.own || !known || to <= from || s.test() && within(i.path, testOnly...) {
				continue
			}
			found = append(found, finding{s.path, i.line, fmt.Sprintf(
				"floor %d imports %s of floor %d: arrows point down, so that a lower floor can be understood and tested "+
					"without those above it", from, i.path, to)})
		}
	}
	return found
}

// floorOf finds the floor of a folder or of an import inside the module.
func floorOf(name string) (int, bool) {
	for folder, floor := range floors {
		if within(name, folder) {
			return floor, true
		}
	}
	return 0, false
}

func TestTheFloorRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkFloors,
		sample{"internal/base/money/a.go", importing(module + "/internal/rules/book"), "internal/rules/book of floor 2"},
		sample{"internal/area/journal/a.go", importing(module + "/internal/edge/api"), "arrows point down"},
		sample{"internal/area/journal/a.go", importing(module + "/internal/provider/kraken"), "arrows point down"},
		sample{"internal/edge/api/a.go", importing(module + "/bench"), "of floor 9"},
		sample{"internal/stray/a.go", importing("fmt"), "on no floor"},
		sample{"internal/base/money/a.go", importing(module+"/internal/base/fault", "fmt"), ""},
		sample{"internal/area/journal/a.go", importing(module+"/internal/area/period", module+"/internal/db"), ""},
		sample{"internal/area/journal/a_test.go", importing(module + "/internal/edge/api/apitest"), ""},
		sample{"internal/area/journal/a_test.go", importing(module + "/internal/app"), "arrows point down"},
		sample{"cmd/bursar/main.go", importing(module + "/internal/edge/cli"), ""},
		sample{"bench/main.go", importing(module + "/internal/edge/cli"), ""},
		sample{"internal/edge/site/a.go", importing(module + "/web"), ""},
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
				found = append(found, finding{s.path, i.line, "client imports " + i.path + ": whoever uses it sees what the " +
					"service puts on the wire and nothing else, so it proves that the wire is enough"})
			}
		}
	}
	return found
}

func TestTheClientRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkClient,
		sample{"client/a.go", importing(module + "/internal/base/money"), "the wire is enough"},
		sample{"client/auth/a_test.go", importing(module + "/internal/app"), "the wire is enough"},
		sample{"client/a.go", importing("net/http", module+"/client/auth"), ""},
		sample{"clients/a.go", importing(module + "/internal/base/money"), ""},
	)
}
