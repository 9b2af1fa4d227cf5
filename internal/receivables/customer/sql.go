package customer

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/reference"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// table is the table of customers.
const table = "customers"

type row struct {
	ID         string     `db:"customer_id"`
	Name       string     `db:"name"`
	Email      *string    `db:"email"`
	TermsDays  int64      `db:"payment_terms_days"`
	Search     string     `db:"search"`
	ArchivedAt *time.Time `db:"archived_at"`
	CreatedAt  time.Time  `db:"created_at"`
	UpdatedAt  *time.Time `db:"updated_at"`
}

// readRow is a row with what is not stored in it.
type readRow struct {
	row
	Used bool `db:"used"`
}

type identifierRow struct {
	CustomerID string `db:"customer_id"`
	Kind       string `db:"kind"`
	Position   int64  `db:"position"`
	Provider   string `db:"provider"`
	Value      string `db:"value"`
	MatchKey   string `db:"match_key"`
}

// searchText returns a name in lower case for searches: neither database folds the case of letters beyond A to Z by itself.
func searchText(name string) string { return strings.ToLower(name) }

func toRow(c Customer) row {
	return row{ID: c.ID, Name: c.Name, Email: db.OrNull(c.Email), TermsDays: int64(c.TermsDays), Search: searchText(c.Name),
		ArchivedAt: c.ArchivedAt, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
}

func toIdentifiers(c Customer) (out []identifierRow) {
	add := func(k kind, position int, provider, value string) {
		out = append(out, identifierRow{CustomerID: c.ID, Kind: string(k), Position: int64(position), Provider: provider, Value: value,
			MatchKey: k.matchKey(value)})
	}
	for i, r := range c.References {
		add(externalID, i, r.Provider, r.ExternalID)
	}
	for i, value := range c.PayerNames {
		add(payerName, i, "", value)
	}
	for i, value := range c.Addresses {
		add(address, i, "", value)
	}
	return out
}

func (r readRow) customer() Customer {
	return Customer{ID: r.ID, Name: r.Name, Email: db.OrEmpty(r.Email), TermsDays: int(r.TermsDays), References: []Reference{},
		PayerNames: []string{}, Addresses: []string{}, ArchivedAt: r.ArchivedAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, used: r.Used}
}

var selectRows = "SELECT " + db.Columns[row]() + ", " + reference.Used(table, "customers.customer_id") +
	" AS used FROM customers WHERE organization_id = @org"

// customersOf returns customers with their identifiers.
func customersOf(ctx context.Context, tx *db.Tx, rows []readRow) ([]Customer, error) {
	out, ids, at := make([]Customer, len(rows)), make([]string, len(rows)), map[string]int{}
	for i, r := range rows {
		out[i], ids[i], at[r.ID] = r.customer(), r.ID, i
	}
	if len(rows) == 0 {
		return out, nil
	}
	identifiers, err := db.All[identifierRow](ctx, tx, "SELECT "+db.Columns[identifierRow]()+
		" FROM customer_identifiers WHERE organization_id = @org AND customer_id {any} ORDER BY customer_id, kind, position", ids)
	for _, r := range identifiers {
		c := &out[at[r.CustomerID]]
		switch kind(r.Kind) {
		case externalID:
			c.References = append(c.References, Reference{r.Provider, r.Value})
		case payerName:
			c.PayerNames = append(c.PayerNames, r.Value)
		case address:
			c.Addresses = append(c.Addresses, r.Value)
		}
	}
	return out, err
}

func find(ctx context.Context, tx *db.Tx, customerID string) (Customer, error) {
	r, err := db.One[readRow](ctx, tx, noun, selectRows+" AND customer_id = ?", customerID)
	if err != nil {
		return Customer{}, err
	}
	found, err := customersOf(ctx, tx, []readRow{r})
	if err != nil {
		return Customer{}, err
	}
	return found[0], nil
}

func selectSome(ctx context.Context, tx *db.Tx, customerIDs []string) ([]Customer, error) {
	rows, err := db.All[readRow](ctx, tx, selectRows+" AND customer_id {any}", customerIDs)
	if err != nil {
		return nil, err
	}
	return customersOf(ctx, tx, rows)
}

// selectPage reads in the order of ids.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, above string, limit int) ([]Customer, error) {
	q := db.Select(selectRows).And("customer_id > ?", above)
	if f.Search != "" {
		q.And("search LIKE ? ESCAPE '!'", containing(f.Search))
	}
	if f.ExternalID != "" {
		q.And("customer_id IN (SELECT i.customer_id FROM customer_identifiers i WHERE i.organization_id = @org AND i.kind = ? AND "+
			"i.match_key = ?)", string(externalID), f.ExternalID)
	}
	if f.Archived != nil && *f.Archived {
		q.And("archived_at IS NOT NULL")
	} else if f.Archived != nil {
		q.And("archived_at IS NULL")
	}
	rows, err := db.All[readRow](ctx, tx, q.Then("ORDER BY customer_id LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return customersOf(ctx, tx, rows)
}

// containing returns the pattern of texts that contain another one, in any case.
func containing(text string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(searchText(text)) + "%"
}

// selectByReference reads the ids of the customers with an id at a provider: one at most.
func selectByReference(ctx context.Context, tx *db.Tx, r Reference) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT customer_id FROM customer_identifiers WHERE organization_id = @org AND kind = ? AND "+
		"match_key = ? AND provider = ?", string(externalID), r.ExternalID, r.Provider)
}

// selectIdentified reads the ids of the customers with an id, their own or one at a provider.
func selectIdentified(ctx context.Context, tx *db.Tx, text string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT customer_id FROM customers WHERE organization_id = @org AND customer_id = ? UNION "+
		"SELECT customer_id FROM customer_identifiers WHERE organization_id = @org AND kind = ? AND match_key = ?",
		text, string(externalID), text)
}

func selectNamed(ctx context.Context, tx *db.Tx, text string, limit int) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT customer_id FROM customers WHERE organization_id = @org AND search LIKE ? ESCAPE '!' LIMIT ?",
		containing(text), limit)
}

type nameRow struct {
	ID   string `db:"customer_id"`
	Name string `db:"name"`
}

func selectNames(ctx context.Context, tx *db.Tx, ids []string) (map[string]string, error) {
	rows, err := db.All[nameRow](ctx, tx, "SELECT customer_id, name FROM customers WHERE organization_id = @org AND customer_id {any}", ids)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, err
}

func insert(ctx context.Context, tx *db.Tx, c Customer) error {
	if err := db.Insert(ctx, tx, table, toRow(c)); err != nil {
		return err
	}
	return db.Insert(ctx, tx, "customer_identifiers", toIdentifiers(c)...)
}

func update(ctx context.Context, tx *db.Tx, c Customer) error {
	r := toRow(c)
	if _, err := tx.Exec(ctx, "UPDATE customers SET name = ?, email = ?, payment_terms_days = ?, search = ?, archived_at = ?, updated_at = ? "+
		"WHERE organization_id = @org AND customer_id = ?",
		r.Name, r.Email, r.TermsDays, r.Search, r.ArchivedAt, r.UpdatedAt, r.ID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM customer_identifiers WHERE organization_id = @org AND customer_id = ?", c.ID); err != nil {
		return err
	}
	return db.Insert(ctx, tx, "customer_identifiers", toIdentifiers(c)...)
}

func remove(ctx context.Context, tx *db.Tx, customerID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM customers WHERE organization_id = @org AND customer_id = ?", customerID)
	return err
}

// selectIdentifiers reads all identifiers.
func selectIdentifiers(ctx context.Context, tx *db.Tx) ([]identifierRow, error) {
	return db.All[identifierRow](ctx, tx, "SELECT "+db.Columns[identifierRow]()+
		" FROM customer_identifiers WHERE organization_id = @org ORDER BY customer_id, kind, position")
}

type matchRow struct {
	ID    string  `db:"customer_id"`
	Name  string  `db:"name"`
	Email *string `db:"email"`
}

func selectMatching(ctx context.Context, tx *db.Tx) ([]match.Customer, error) {
	rows, err := db.All[matchRow](ctx, tx, "SELECT customer_id, name, email FROM customers WHERE organization_id = @org ORDER BY customer_id")
	if err != nil {
		return nil, err
	}
	out, at := make([]match.Customer, len(rows)), make(map[string]int, len(rows))
	for n, r := range rows {
		out[n], at[r.ID] = match.Customer{ID: r.ID, Name: r.Name}, n
		if r.Email != nil {
			out[n].Emails = []string{*r.Email}
		}
	}
	identifiers, err := selectIdentifiers(ctx, tx)
	for _, r := range identifiers {
		c := &out[at[r.CustomerID]]
		switch kind(r.Kind) {
		case externalID:
			c.ProcessorIDs = append(c.ProcessorIDs, r.Value)
		case payerName:
			c.Aliases = append(c.Aliases, r.Value)
		case address:
			c.Addresses = append(c.Addresses, r.Value)
		}
	}
	return out, err
}

func selectSearchTexts(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[nameRow](ctx, tx, "SELECT customer_id, search AS name FROM customers WHERE organization_id = @org")
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, err
}
