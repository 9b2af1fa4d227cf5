package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// findBinaries returns the folder that contains both programs a cluster needs, so that they are of the same version.
func findBinaries() (string, error) {
	if dir := os.Getenv("BURSAR_PG_BIN"); dir != "" {
		if !complete(dir) {
			return "", fmt.Errorf("PostgreSQL server not found: BURSAR_PG_BIN=%s holds no initdb and postgres", dir)
		}
		return dir, nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if dir := filepath.Dir(path); complete(dir) {
			return dir, nil
		}
	}
	debian, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("look for PostgreSQL: %w", err)
	}
	slices.SortFunc(debian, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range debian {
		if complete(dir) {
			return dir, nil
		}
	}
	return "", errors.New("PostgreSQL server not found: run scripts/setup or apt-get install postgresql")
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// version returns the major version in Debian's folder name, as a number, because 9 sorts after 15 as text.
func version(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}
