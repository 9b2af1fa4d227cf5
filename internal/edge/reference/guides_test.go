package reference_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/docs/guides"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

var commands = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestTheCommandsOfTheGuidesWork runs the commands of each guide, in order, in one shell. Blocks marked "console" are not run.
func TestTheCommandsOfTheGuidesWork(t *testing.T) {
	t.Parallel()
	for _, name := range guides.Order {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := guides.Files.ReadFile(name + ".md")
			if err != nil {
				t.Fatal(err)
			}
			s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{})
			key := keyFor(t, s, string(text))
			script := "set -euo pipefail\n"
			for _, block := range commands.FindAllStringSubmatch(string(text), -1) {
				script += block[1]
			}
			c := exec.CommandContext(t.Context(), "bash", "-c", script)
			c.Dir, c.Env = t.TempDir(), append(os.Environ(), "BURSAR_URL="+s.URL, "BURSAR_API_KEY="+key)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// keyFor makes the organization that a guide needs: the demo company where it says so, otherwise an empty one.
func keyFor(t *testing.T, s *apitest.Service, text string) string {
	t.Helper()
	if !strings.Contains(text, "`bursar demo`") {
		work(t, s)
		return s.Found(t, "acme").Key
	}
	f, err := demo.Found(t.Context(), s.App, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	return f.KeyText.Reveal()
}

// work runs the background work of a service for as long as the test runs.
func work(t *testing.T, s *apitest.Service) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.App.Work(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

func TestEveryGuideIsListed(t *testing.T) {
	t.Parallel()
	files, err := guides.Files.ReadDir(".")
	if err != nil || len(files) != len(guides.Order) {
		t.Errorf("there are %d guides, and %d are listed (%v)", len(files), len(guides.Order), err)
	}
}
