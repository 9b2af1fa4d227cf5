package interchange

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// types are the roots that name a type of account, as other programs and people write them.
var types = map[string]account.Type{
	"asset": account.Asset, "assets": account.Asset, "liability": account.Liability, "liabilities": account.Liability, "equity": account.Equity,
	"revenue": account.Revenue, "revenues": account.Revenue, "income": account.Revenue, "expense": account.Expense, "expenses": account.Expense,
}

// chart finds accounts by their path while a journal is read.
type chart struct {
	ids      map[string]string // by type and path
	codes    map[string]bool
	declared map[string]notation.Account // by the path as it is written
}

func readChart(ctx context.Context, tx *db.Tx) (*chart, error) {
	accounts, err := account.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	byID := map[string]account.Account{}
	c := &chart{ids: map[string]string{}, codes: map[string]bool{}, declared: map[string]notation.Account{}}
	for _, a := range accounts {
		byID[a.ID], c.codes[a.Code] = a, true
	}
	for id, path := range pathsOf(byID) {
		c.ids[key(byID[id].Type, path[1:])] = id
	}
	return c, nil
}

func key(kind account.Type, path []string) string {
	return string(kind) + "\x00" + strings.Join(path, "\x00")
}

func (c *chart) declare(a notation.Account) { c.declared[strings.Join(a.Path, "\x00")] = a }

// typeOf says what an account is: by its root, or by what the journal declares of it or of one above it.
func (c *chart) typeOf(path []string) (account.Type, []string, bool) {
	if kind, ok := types[strings.ToLower(path[0])]; ok {
		if len(path) == 1 {
			return kind, path, true
		}
		return kind, path[1:], true
	}
	for n := len(path); n > 0; n-- {
		if d, ok := c.declared[strings.Join(path[:n], "\x00")]; ok && d.Type != "" {
			return account.Type(d.Type), path, true
		}
	}
	return "", nil, false
}

// account gives the account of a posting, made now with all above it if there is none.
func (m *importer) account(ctx context.Context, p *notation.Posting) (string, error) {
	kind, path, ok := m.chart.typeOf(p.Account)
	if !ok {
		return "", m.fail(p.Line, "what type is the account %q? Begin its name with Assets, Liabilities, Equity, Revenue or Expenses, or declare its type", strings.Join(p.Account, ":"))
	}
	above := len(p.Account) - len(path)
	parent := ""
	for n := 1; n <= len(path); n++ {
		id, there := m.chart.ids[key(kind, path[:n])]
		if !there {
			params := account.CreateParams{Name: path[n-1], Type: kind, ParentID: parent}
			if code := m.chart.declared[strings.Join(p.Account[:above+n], "\x00")].Code; !m.chart.codes[code] {
				params.Code, m.chart.codes[code] = code, true
			}
			made, err := account.Create(ctx, m.tx, params)
			if err != nil {
				return "", m.fail(p.Line, "the account %q cannot be made: %s", strings.Join(p.Account, ":"), err)
			}
			id = made.ID
			m.chart.ids[key(kind, path[:n])] = id
			m.Accounts++
		}
		parent = id
	}
	return parent, nil
}
