package interchange

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// chart resolves the accounts of a journal, by their declarations or by their paths.
type chart struct {
	accounts map[string]account.Account
	ids      map[string]string // by type and path
	roles    map[string]string // ids by role, as a journal names it
	codes    map[string]bool
	declared map[string]*notation.Account // by path in the file
	resolved map[string]string            // ids of resolved accounts, by path in the file
	archive  []string                     // ids of new accounts to archive at the end
}

func readChart(ctx context.Context, tx *db.Tx, declared []*notation.Account, labels map[string]string) (*chart, error) {
	accounts, err := account.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := &chart{
		accounts: map[string]account.Account{}, ids: map[string]string{}, roles: map[string]string{}, codes: map[string]bool{},
		declared: map[string]*notation.Account{}, resolved: map[string]string{},
	}
	names := rolesOf(labels)
	paths := pathsOf(accounts)
	for _, a := range accounts {
		c.accounts[a.ID], c.codes[a.Code] = a, true
		c.ids[key(a.Type, paths[a.ID][1:])] = a.ID
		if name, about := names[a.Role]; about {
			c.roles[name] = a.ID
		} else if a.Role != "" {
			c.roles[a.Role] = a.ID
		}
	}
	for _, d := range declared {
		c.declared[pathKey(d.Path)] = d
	}
	return c, nil
}

func key(kind account.Type, path []string) string { return string(kind) + "\x00" + pathKey(path) }

// typeOf returns the type of an account and its path below that type. The type is that of its declaration, of the
// nearest declared ancestor, or of its root.
func (c *chart) typeOf(path []string) (kind account.Type, below []string, ok bool) {
	root := notation.TypeOfRoot(path[0])
	kind = account.Type(root)
	for n := len(path); n > 0; n-- {
		if d, exists := c.declared[pathKey(path[:n])]; exists && d.Type != "" {
			kind = account.Type(d.Type)
			break
		}
	}
	if len(path) > 1 && root == string(kind) {
		path = path[1:]
	}
	return kind, path, kind != ""
}

// find returns the existing account that matches by declared id or role, or else by path.
func (c *chart) find(kind account.Type, written, path []string) (id string, ok bool) {
	if d := c.declared[pathKey(written)]; d != nil {
		if a, ok := c.accounts[d.ID]; ok && a.Type == kind {
			return a.ID, true
		}
		if id, ok := c.roles[tagValue(d, factRole)]; ok && c.accounts[id].Type == kind {
			return id, true
		}
	}
	id, ok = c.ids[key(kind, path)]
	return id, ok
}

// tagValue returns the name of the declared tag of a kind, or an empty string.
func tagValue(d *notation.Account, kind string) string {
	for _, t := range d.Tags {
		if t.Kind == kind {
			return t.Name
		}
	}
	return ""
}

// createDeclared creates the accounts that the journal declares and the books lack, in the order of the journal. The
// declaration of a root only states the type of the accounts below it.
func (m *importer) createDeclared(ctx context.Context, declared []*notation.Account) error {
	for _, d := range declared {
		if _, _, ok := m.chart.typeOf(d.Path); !ok || len(d.Path) == 1 && notation.TypeOfRoot(d.Path[0]) != "" {
			continue
		}
		if _, err := m.ensureAccount(ctx, d.Path, d.Line); err != nil {
			return err
		}
	}
	return nil
}

// ensureAccount returns the account of a path, and creates it and its ancestors if they are missing.
func (m *importer) ensureAccount(ctx context.Context, written []string, line int) (account.Account, error) {
	c := m.chart
	if id, found := c.resolved[pathKey(written)]; found {
		return c.accounts[id], nil
	}
	kind, path, ok := c.typeOf(written)
	if !ok {
		return account.Account{}, m.fail(line,
			"the type of the account %q is unknown: begin its name with Assets, Liabilities, Equity, Revenue or Expenses, or declare its type",
			strings.Join(written, ":"))
	}
	if err := m.rejectNUL(line, written...); err != nil {
		return account.Account{}, err
	}
	above := len(written) - len(path)
	id := ""
	for n := 1; n <= len(path); n++ {
		found, exists := c.find(kind, written[:above+n], path[:n])
		if !exists {
			made, err := m.createAccount(ctx, kind, written[:above+n], id)
			if err != nil {
				return made, m.fail(line, "the account %q cannot be created: %s", strings.Join(written, ":"), reason(err))
			}
			found = made.ID
			c.ids[key(kind, path[:n])] = found
		}
		id = found
	}
	c.resolved[pathKey(written)] = id
	return c.accounts[id], nil
}

// createAccount creates an account as declared, or from its name alone if it is not declared.
func (m *importer) createAccount(ctx context.Context, kind account.Type, written []string, parentID string) (account.Account, error) {
	c := m.chart
	p := account.CreateParams{Name: written[len(written)-1], Type: kind, ParentID: parentID}
	d := c.declared[pathKey(written)]
	if d != nil {
		if !c.codes[d.Code] {
			p.Code, c.codes[d.Code] = d.Code, true
		}
		if name := tagValue(d, factName); name != "" {
			p.Name = name
		}
		if side := account.Balance(tagValue(d, factNormalBalance)); side == account.Debit || side == account.Credit {
			p.NormalBalance = side
		}
		postable := tagValue(d, factPostable) != no
		p.Postable, p.Clearing, p.AssetType = &postable, tagValue(d, factClearing) == yes, tagValue(d, factAssetType)
		if monetary := tagValue(d, factMonetary); monetary == yes && kind.Monetary() || monetary == no {
			p.Monetary = new(monetary == yes)
		}
	}
	made, err := account.Create(ctx, m.tx, p)
	if err != nil {
		return made, err
	}
	c.accounts[made.ID] = made
	m.Accounts++
	if d != nil && tagValue(d, factArchived) == yes {
		c.archive = append(c.archive, made.ID)
	}
	return made, nil
}

// postingAccount returns the id of the account for a posting. Retained earnings are computed, so manual postings to
// them use a separate account.
func (m *importer) postingAccount(ctx context.Context, p *notation.Posting) (string, error) {
	a, err := m.ensureAccount(ctx, p.Account, p.Line)
	if err != nil {
		return "", err
	}
	name := strings.Join(p.Account, ":")
	switch {
	case a.Archived():
		return "", m.fail(p.Line, "the account %q is archived: unarchive it first, or post to another account", name)
	case a.Role == account.RoleRetainedEarnings:
		return m.chart.roles[account.RoleRetainedEarningsPosted], nil
	case !a.Postable:
		return "", m.fail(p.Line, "the account %q only groups the accounts below it: post to one of them", name)
	}
	return a.ID, nil
}

// archiveAccounts archives the new accounts that are declared as archived, descendants first. An account that cannot be
// archived because it has other bookings stays active.
func (m *importer) archiveAccounts(ctx context.Context) error {
	for _, id := range slices.Backward(m.chart.archive) {
		if _, err := account.Archive(ctx, m.tx, id); err != nil && fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return nil
}

// reason formats the faults of a request for a user who never made that request.
func reason(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err.Error()
	}
	parts := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		parts[i] = "its " + field.Name + " " + field.Message
	}
	return strings.Join(parts, "; ")
}
