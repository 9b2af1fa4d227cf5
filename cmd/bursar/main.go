// Command bursar is accounting and treasury for crypto-native companies, in one binary.
package main

import (
	"os"

	"github.com/bursarhq/bursar/internal/edge/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
