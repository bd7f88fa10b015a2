package models

import (
	"testing"

	"attention/cmd/attention/internal/run/settings"

	"github.com/stretchr/testify/require"
)

// TestErrKind: the error about a folder of another kind has the command that takes it.
func TestErrKind(t *testing.T) {
	for _, row := range []struct{ kind, got, takes string }{
		{kind: settings.DatesModel, got: "a run of attention translate", takes: "translate --model 'a b' --date 8/6/63"},
		{kind: settings.LayerModel, got: "a run of attention train of one layer", takes: "generate --model 'a b' --prompt TEXT"},
		{kind: settings.GPTModel, got: "a run of attention train", takes: "generate --model 'a b' --prompt TEXT"},
		{got: "a model that is no run's", takes: "generate --model 'a b' --prompt TEXT"},
	} {
		in := Inspection{Dir: "a b", Kind: row.kind}
		require.EqualError(t, in.ErrKind("x"), "a b: got "+row.got+", want x; this one is for: attention "+row.takes)
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 heads", "1 head", "2 heads"} {
		require.Equal(t, want, settings.Count(n, "head"))
	}
}
