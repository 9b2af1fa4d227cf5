package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Commands returns the whole tree of commands.
func Commands() *cobra.Command { return (&settings{out: io.Discard, err: io.Discard}).root() }

// Describe returns the id and the summary that events tail prints of a record.
var Describe = describe
