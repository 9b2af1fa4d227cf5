package interchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// roots are the root account names used by other programs.
var roots = map[account.Type]string{
	account.Asset: "Assets", account.Liability: "Liabilities", account.Equity: "Equity", account.Revenue: "Revenue",
	account.Expense: "Expenses",
}

// pathsOf returns the path of every account, beginning with its root. Equal paths are made unique by appending the code
// or a number.
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
		if parent, exists := byID[a.ParentID]; exists {
			above = path(parent)
		}
		p := append(slices.Clone(above), a.Name)
		last := len(p) - 1
		if taken[pathKey(p)] && a.Code != "" {
			p[last] = a.Name + " (" + a.Code + ")"
		}
		for n := 2; taken[pathKey(p)]; n++ {
			p[last] = fmt.Sprintf("%s (%d)", a.Name, n)
		}
		taken[pathKey(p)], paths[a.ID] = true, p
		return p
	}
	for _, a := range accounts { // the oldest account keeps its name
		path(a)
	}
	return paths
}

// pathKey joins a path with a character that no name contains.
func pathKey(path []string) string { return strings.Join(path, "\x00") }

// labelsOf returns a unique label for every legal entity: its name, with a number appended if an older one has the same
// name.
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

// Tags of an account declaration, written only if they differ from the default.
const (
	factName          = "name" // if the last part of the path differs
	factNormalBalance = "normal-balance"
	factPostable      = "postable"
	factClearing      = "clearing"
	factMonetary      = "monetary" // if it differs from that of the account above, or of the type
	factAssetType     = "asset-type"
	factRole          = "role"
	factArchived      = "archived"

	yes, no = "yes", "no"
)

// factsOf returns the tags of the declaration of an account. Parent is the account above it, or zero.
func factsOf(a, parent account.Account, path []string, roles map[string]string) (out []notation.Tag) {
	add := func(kind, name string, when bool) {
		if when {
			out = append(out, notation.Tag{Kind: kind, Name: name})
		}
	}
	add(factName, a.Name, path[len(path)-1] != a.Name)
	add(factNormalBalance, string(a.NormalBalance), a.NormalBalance != a.Type.NormalBalance())
	add(factPostable, no, !a.Postable)
	add(factClearing, yes, a.Clearing)
	add(factMonetary, map[bool]string{true: yes, false: no}[a.Monetary], a.Monetary != a.InheritedMonetary(parent))
	add(factAssetType, a.AssetType, a.AssetType != "")
	role, about := roles[a.Role]
	if !about {
		role = a.Role
	}
	add(factRole, role, role != "")
	add(factArchived, yes, a.Archived())
	return out
}

// rolesOf maps roles that contain the id of a legal entity, which is meaningless elsewhere, to roles with its label.
func rolesOf(labels map[string]string) map[string]string {
	out := make(map[string]string, 2*len(labels))
	for id, label := range labels {
		for _, role := range []func(string) string{account.RoleDueFrom, account.RoleDueTo} {
			out[role(id)] = role(label)
		}
	}
	return out
}
