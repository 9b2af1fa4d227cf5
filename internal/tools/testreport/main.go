// Command testreport turns the events of `go test -json` on its input into one line per package, the full output of what
// failed, and a last line that counts the tests.
package main

import (
	"fmt"
	"os"
)

func main() {
	report := newReport(os.Stdout)
	if err := report.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if !report.finish() {
		os.Exit(1)
	}
}
