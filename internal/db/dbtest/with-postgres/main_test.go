package main

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bursarhq/bursar/internal/db/dbtest/pgcluster"
)

func TestOnlyShortTestsGetAServerWithUnusualSettings(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	soak := func(name string) string { return map[string]string{"BURSAR_SOAK": "1"}[name] }
	for _, c := range []struct {
		of   string
		with map[string]string
		want string
	}{
		{"short tests", settings(none), "off"},
		{"long tests", settings(soak), "on"},
		{"benchmarks", nil, "on"},
	} {
		cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: c.with})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"autovacuum", "full_page_writes", "jit"} {
			if got, err := show(t.Context(), cluster, name); err != nil || got != c.want {
				t.Errorf("%s: %s is %q, want %q: %v", c.of, name, got, c.want, err)
			}
		}
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	}
}

// show returns a setting of a server.
func show(ctx context.Context, c *pgcluster.Cluster, name string) (value string, err error) {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SHOW "+name).Scan(&value)
	return value, err
}
