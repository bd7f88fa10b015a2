package session

import (
	"testing"

	"attention/internal/simd"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

func TestDifferences(t *testing.T) {
	for _, row := range []struct {
		name     string
		restored checkpoint.Restored
		want     []string
	}{
		{name: "none"},
		{name: "kernels", restored: checkpoint.Restored{Kernels: "sve"},
			want: []string{`the checkpoint was written with the kernels "sve", not "` + simd.InstructionSet() +
				`": bits may differ from those of a run that never stopped`}},
		{name: "precision", restored: checkpoint.Restored{Precision: "bf16"},
			want: []string{`the checkpoint was written in the precision "bf16", which now is another: ` +
				`bits differ from those of a run that never stopped`}},
	} {
		require.Equal(t, row.want, differences(&row.restored), row.name)
	}
}
