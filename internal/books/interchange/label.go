package interchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// roots are the names other programs know the types of accounts by.
var roots = map[account.Type]string{
	account.Asset: "Assets", account.Liability: "Liabilities", account.Equity: "Equity", account.Revenue: "Revenue",
	account.Expense: "Expenses",
}

// pathsOf names every account from its type down. Those that would have the same path are told apart by their codes, or else counted.
func pathsOf(accounts []account.Account) map[string][]string {
	byID := make(map[string]account.Account, len(accounts))
	for _, a := range accounts {
		byID[a.ID] = a
	}
	paths, taken := make(map[string][]string, len(accounts)), map[string]bool{}
	var path func(a account.Account) []string
	path = func(a account.Account) []string {
		if p, done := paths[a.ID]; done {
			return p
		}
		above := []string{roots[a.Type]}
		if parent, there := byID[a.ParentID]; there {
			above = path(parent)
		}
		p := append(slices.Clone(above), a.Name)
		last := len(p) - 1
		if taken[joined(p)] && a.Code != "" {
			p[last] = a.Name + " (" + a.Code + ")"
		}
		for n := 2; taken[joined(p)]; n++ {
			p[last] = fmt.Sprintf("%s (%d)", a.Name, n)
		}
		taken[joined(p)], paths[a.ID] = true, p
		return p
	}
	for _, a := range accounts { // the oldest keeps its name
		path(a)
	}
	return paths
}

// joined makes a path one text. No name has the character between them.
func joined(path []string) string { return strings.Join(path, "\x00") }

// labelsOf names every legal entity. Those of the same name are counted, the oldest keeps it.
func labelsOf(entities []entity.LegalEntity) map[string]string {
	labels, taken := make(map[string]string, len(entities)), map[string]bool{}
	for _, e := range entities {
		label := e.Name
		for n := 2; taken[label]; n++ {
			label = fmt.Sprintf("%s (%d)", e.Name, n)
		}
		taken[label], labels[e.ID] = true, label
	}
	return labels
}

// What an account says of itself besides its type and code, where it is not what goes without saying.
const (
	factName          = "name" // where the path has another
	factNormalBalance = "normal-balance"
	factPostable      = "postable"
	factClearing      = "clearing"
	factAssetType     = "asset-type"
	factRole          = "role"
	factArchived      = "archived"

	yes, no = "yes", "no"
)

// factsOf writes down what else there is to know of an account.
func factsOf(a account.Account, path []string, roles map[string]string) (out []notation.Tag) {
	add := func(kind, name string, when bool) {
		if when {
			out = append(out, notation.Tag{Kind: kind, Name: name})
		}
	}
	add(factName, a.Name, path[len(path)-1] != a.Name)
	add(factNormalBalance, string(a.NormalBalance), a.NormalBalance != a.Type.NormalBalance())
	add(factPostable, no, !a.Postable)
	add(factClearing, yes, a.Clearing)
	add(factAssetType, a.AssetType, a.AssetType != "")
	role, about := roles[a.Role]
	if !about {
		role = a.Role
	}
	add(factRole, role, role != "")
	add(factArchived, yes, a.Archived())
	return out
}

// rolesOf names the roles that hold the id of a legal entity, which means nothing elsewhere, by the entity's label.
func rolesOf(labels map[string]string) map[string]string {
	out := make(map[string]string, 2*len(labels))
	for id, label := range labels {
		for _, role := range []func(string) string{account.RoleDueFrom, account.RoleDueTo} {
			out[role(id)] = role(label)
		}
	}
	return out
}
