package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// restless lists the tables that also reads change, or that only restate others.
var restless = []string{"audit_log", "credential_uses", "events", "organization_state", "relays"}

// unaudited returns what is stored of an organization in tables whose changes the audit log does not count.
func unaudited(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	var out strings.Builder
	err := n.Service().App.DB.Read(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		for _, table := range db.Tables {
			if table.Kind != db.Tenant || table.Unaudited == "" || slices.Contains(restless, table.Name) {
				continue
			}
			rows, err := db.Texts(ctx, tx, "SELECT * FROM "+table.Name+" WHERE organization_id = @org")
			if err != nil {
				return fmt.Errorf("%s: %w", table.Name, err)
			}
			var texts []string
			for _, row := range rows {
				var cells []string
				for column, v := range row {
					if v.Value != nil {
						cells = append(cells, column+"="+*v.Value)
					}
				}
				slices.Sort(cells)
				texts = append(texts, table.Name+": "+strings.Join(cells, " "))
			}
			slices.Sort(texts) // each row is a line
			out.WriteString(strings.Join(texts, "\n") + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// differing returns the lines that only one of two texts has.
func differing(a, b string) (out []string) {
	first, second := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, line := range slices.Concat(first, second) {
		if slices.Contains(first, line) != slices.Contains(second, line) {
			out = append(out, line)
		}
	}
	return out
}
