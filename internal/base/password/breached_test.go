package password_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/secret"
)

func TestAPasswordInTheListIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"\n", "\r\n"} {
		for _, count := range []int{1, 2, 3, 10, 500} {
			var lines []string
			for i := range count {
				lines = append(lines, fmt.Sprintf("%X:%d", sha1.Sum(fmt.Appendf(nil, "breached %d", i)), i*i*i*i*i))
			}
			slices.Sort(lines)
			for _, last := range []string{"", ending} {
				path := filepath.Join(t.TempDir(), "list.txt")
				if err := os.WriteFile(path, []byte(strings.Join(lines, ending)+last), 0o600); err != nil {
					t.Fatal(err)
				}
				list, err := password.OpenBreached(path)
				if err != nil {
					t.Fatal(err)
				}
				for i := range count {
					if err := list.Check("password", secret.New(fmt.Sprintf("breached %d", i))); fault.KindOf(err) != fault.Invalid {
						t.Errorf("%d of %d was not found: %v", i, count, err)
					}
					if err := list.Check("password", secret.New(fmt.Sprintf("another %d", i))); err != nil {
						t.Errorf("another one was found: %v", err)
					}
				}
			}
		}
	}
	var none *password.Breached
	if err := none.Check("password", secret.New("breached 1")); err != nil {
		t.Errorf("without a list: %v", err)
	}
}

func TestAFileThatIsNoListIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.txt")
	for _, content := range []string{"", "hello", strings.Repeat("g", 40) + ":1\n", strings.Repeat("A", 40) + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := password.OpenBreached(path); err == nil {
			t.Errorf("%q was accepted", content)
		}
	}
}
