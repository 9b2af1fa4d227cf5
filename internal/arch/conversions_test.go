package arch

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Under row-level security PostgreSQL uses an index for a condition only if what the condition calls is leakproof, and nearly no function
// or conversion is. A column that is compared has to stand for itself, and so does what it is compared with.

// converted matches a comparison with a call or a conversion on one of its sides.
var converted = regexp.MustCompile(`(?is)(?:\b([a-z_]+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?:=|<>|<=|>=|<|>|\bLIKE\b|\bIN\b|\{any\})` +
	`|(?:=|<>|<=|>=|<|>)\s*([a-z_]+)\s*\(((?:[^()]|\([^()]*\))*)\)|\b([a-z]+\.[a-z_]+)::)`)

// notCalls are words before a parenthesis that are no functions, and aggregates, which conditions on rows cannot have.
var notCalls = strings.Fields("and any as by case count else exists from having in max min not on or over select set sum then values " +
	"when where")

// sqlColumn matches a column. Keywords and types are in capitals.
var sqlColumn = regexp.MustCompile(`(?:^|[^{'])\b[a-z][a-z0-9_]*\b`)

// unindexed lists comparisons with conversions for which no index is needed, with the reason.
var unindexed = map[string]string{
	"> COALESCE(m.number, 0)":                      "compares two counters of each organization, which are few, across all of them",
	"= coalesce(started_at, ?)":                    "sets a column",
	"rtrim(CAST(l.base_amount AS TEXT), '0') LIKE": "looks at the lines of one entry, which their key finds",
}

func TestNoConditionConvertsAColumn(t *testing.T) {
	t.Parallel()
	obey(t, checkConversions)
}

func checkConversions(files []*source) []finding {
	var found []finding
	for _, s := range files {
		if s.test() || !strings.HasSuffix(s.path, "sql.go") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text := flatten(e, nil)
			if text == unknown {
				return true
			}
			for _, m := range converted.FindAllStringSubmatch(text, -1) {
				call, of := strings.ToLower(m[1]+m[3]), m[2]+m[4]
				if m[5] == "" && (slices.Contains(notCalls, call) || !sqlColumn.MatchString(of)) || unindexed[m[0]] != "" {
					continue
				}
				found = append(found, s.at(e.Pos(), "the condition %q converts a column: under row-level security PostgreSQL uses no index for it; "+
					"convert what is given to the statement, or list it in unindexed with the reason why no index is needed", m[0]))
			}
			return false
		})
	}
	return found
}

func TestTheConversionRuleFires(t *testing.T) {
	t.Parallel()
	text := func(condition string) string {
		return "package a\nvar q = `SELECT 1 FROM lots l WHERE " + condition + "`"
	}
	const path = "internal/assets/lots/sql.go"
	prove(t, checkConversions,
		sample{path, text("l.interval_node = CAST(w.value AS BIGINT)"), "CAST(w.value AS BIGINT)"},
		sample{path, text("lower(l.name) = ?"), "lower(l.name)"},
		sample{path, text("CAST(number AS TEXT) = ?"), "CAST(number AS TEXT)"},
		sample{path, text("coalesce(l.source_id, '') {any}"), "coalesce"},
		sample{path, text("l.number::text = ?"), "l.number::"},
		sample{path, text("l.number = CAST(? AS BIGINT)"), ""},
		sample{path, text("l.number > 1 AND EXISTS (SELECT 1 FROM lots m WHERE m.id = l.id) AND l.id IN (SELECT m.id FROM lots m)"), ""},
		sample{path, text("(l.date, l.number) < (?, ?)"), ""},
		sample{path, text("1 = 1 GROUP BY l.id HAVING count(l.number) > 1"), ""},
	)
}
