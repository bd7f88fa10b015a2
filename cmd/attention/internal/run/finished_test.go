package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResumeCommand(t *testing.T) {
	require.Equal(t, "attention train --resume runs/1", ResumeCommand("runs/1"))
	require.Equal(t, `attention train --resume 'it'\''s a run'`, ResumeCommand("it's a run"))
}
