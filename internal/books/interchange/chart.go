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

// chart finds accounts while a journal is read, by what the journal declares of them or by their path.
type chart struct {
	accounts map[string]account.Account
	ids      map[string]string // by type and path
	roles    map[string]string // ids by role, as a journal names it
	codes    map[string]bool
	declared map[string]*notation.Account // by the path as it is written
	written  map[string]string            // ids of those that were found, by the path as it is written
	archive  []string                     // made now, to be put away in the end
}

func readChart(ctx context.Context, tx *db.Tx, declared []*notation.Account, labels map[string]string) (*chart, error) {
	accounts, err := account.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := &chart{
		accounts: map[string]account.Account{}, ids: map[string]string{}, roles: map[string]string{}, codes: map[string]bool{},
		declared: map[string]*notation.Account{}, written: map[string]string{},
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
		c.declared[joined(d.Path)] = d
	}
	return c, nil
}

func key(kind account.Type, path []string) string { return string(kind) + "\x00" + joined(path) }

// typeOf says what an account is, by what the journal declares of it or of the nearest above it, or else by its root;
// and its path below the type.
func (c *chart) typeOf(path []string) (kind account.Type, below []string, ok bool) {
	root := notation.TypeOfRoot(path[0])
	kind = account.Type(root)
	for n := len(path); n > 0; n-- {
		if d, there := c.declared[joined(path[:n])]; there && d.Type != "" {
			kind = account.Type(d.Type)
			break
		}
	}
	if len(path) > 1 && root == string(kind) {
		path = path[1:]
	}
	return kind, path, kind != ""
}

// there finds an account that the books have: by what is declared of it, if they are these books or it has a role, or else by its path.
func (c *chart) there(kind account.Type, written, path []string) (id string, ok bool) {
	if d := c.declared[joined(written)]; d != nil {
		if a, ok := c.accounts[d.ID]; ok && a.Type == kind {
			return a.ID, true
		}
		if id, ok := c.roles[fact(d, factRole)]; ok && c.accounts[id].Type == kind {
			return id, true
		}
	}
	id, ok = c.ids[key(kind, path)]
	return id, ok
}

// fact is what is declared of an account in one respect.
func fact(d *notation.Account, kind string) string {
	for _, t := range d.Tags {
		if t.Kind == kind {
			return t.Name
		}
	}
	return ""
}

// declare makes the accounts that the journal declares and the books lack, in the journal's order. A root says only what is below it.
func (m *importer) declare(ctx context.Context, declared []*notation.Account) error {
	for _, d := range declared {
		if _, _, ok := m.chart.typeOf(d.Path); !ok || len(d.Path) == 1 && notation.TypeOfRoot(d.Path[0]) != "" {
			continue
		}
		if _, err := m.account(ctx, d.Path, d.Line); err != nil {
			return err
		}
	}
	return nil
}

// account gives the account of a path, made now with all above it if there is none.
func (m *importer) account(ctx context.Context, written []string, line int) (account.Account, error) {
	c := m.chart
	if id, found := c.written[joined(written)]; found {
		return c.accounts[id], nil
	}
	kind, path, ok := c.typeOf(written)
	if !ok {
		return account.Account{}, m.fail(line,
			"what type is the account %q? Begin its name with Assets, Liabilities, Equity, Revenue or Expenses, or declare its type",
			strings.Join(written, ":"))
	}
	if err := m.plain(line, written...); err != nil {
		return account.Account{}, err
	}
	above := len(written) - len(path)
	id := ""
	for n := 1; n <= len(path); n++ {
		found, there := c.there(kind, written[:above+n], path[:n])
		if !there {
			made, err := m.open(ctx, kind, written[:above+n], id)
			if err != nil {
				return made, m.fail(line, "the account %q cannot be made: %s", strings.Join(written, ":"), reason(err))
			}
			found = made.ID
			c.ids[key(kind, path[:n])] = found
		}
		id = found
	}
	c.written[joined(written)] = id
	return c.accounts[id], nil
}

// open makes an account as it is declared, or as its name alone says.
func (m *importer) open(ctx context.Context, kind account.Type, written []string, parentID string) (account.Account, error) {
	c := m.chart
	p := account.CreateParams{Name: written[len(written)-1], Type: kind, ParentID: parentID}
	d := c.declared[joined(written)]
	if d != nil {
		if !c.codes[d.Code] {
			p.Code, c.codes[d.Code] = d.Code, true
		}
		if name := fact(d, factName); name != "" {
			p.Name = name
		}
		if side := account.Balance(fact(d, factNormalBalance)); side == account.Debit || side == account.Credit {
			p.NormalBalance = side
		}
		postable := fact(d, factPostable) != no
		p.Postable, p.Clearing, p.AssetType = &postable, fact(d, factClearing) == yes, fact(d, factAssetType)
	}
	made, err := account.Create(ctx, m.tx, p)
	if err != nil {
		return made, err
	}
	c.accounts[made.ID] = made
	m.Accounts++
	if d != nil && fact(d, factArchived) == yes {
		c.archive = append(c.archive, made.ID)
	}
	return made, nil
}

// posted gives the account that takes a posting. Earnings are computed: what is posted to them by hand has an account of its own.
func (m *importer) posted(ctx context.Context, p *notation.Posting) (string, error) {
	a, err := m.account(ctx, p.Account, p.Line)
	if err != nil {
		return "", err
	}
	name := strings.Join(p.Account, ":")
	switch {
	case a.Archived():
		return "", m.fail(p.Line, "the account %q is archived: unarchive it first, or write the posting on another account", name)
	case a.Role == account.RoleRetainedEarnings:
		return m.chart.roles[account.RoleRetainedEarningsPosted], nil
	case !a.Postable:
		return "", m.fail(p.Line, "the account %q only groups those below it: write the posting on one of them", name)
	}
	return a.ID, nil
}

// putAway archives accounts that came archived, those below others first. One that cannot be, because more is booked
// on it than came along, stays open.
func (m *importer) putAway(ctx context.Context) error {
	for _, id := range slices.Backward(m.chart.archive) {
		if _, err := account.Archive(ctx, m.tx, id); err != nil && fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return nil
}

// reason is what a refused request says to who never made one.
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
