package main

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// runCommand runs a command and returns what it prints.
func runCommand(ctx context.Context, cmd *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	return out.String(), err
}

func TestUnknownCommandIsAnError(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"trian"})
	root.SetOut(io.Discard)
	require.ErrorContains(t, root.Execute(), `unknown command "trian"`)
}
