package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReference: the reference names every layer, and every field, parameter and input.
func TestReference(t *testing.T) {
	for _, name := range Names() {
		require.Contains(t, Reference, name)
		_, err := Parse([]byte(`{"layer": "` + name + `", "?": 0}`))
		_, known, ok := strings.Cut(err.Error(), "it has ")
		require.True(t, ok, err)
		fields := strings.Split(known, ", ")
		require.Greater(t, len(fields), 3)
		for _, field := range fields {
			require.Regexp(t, `\n  ([a-z_]+, )*`+field+`[ ,\n]`, Reference)
		}
	}
	for _, name := range caseNames(t) {
		l := must(Read(caseFiles(t, name).config))
		for _, p := range l.Parameters() {
			if _, ofHead, ok := strings.Cut(p, "heads."); ok {
				_, p, _ = strings.Cut(ofHead, ".") // without the number
			}
			module, _, _ := strings.Cut(p, ".")
			require.True(t, strings.Contains(Reference, p) || strings.Contains(Reference, module+".…"), p)
		}
		for _, in := range l.inputs() {
			require.Contains(t, Reference, "\n  "+in.name+" ")
		}
	}
}

// TestReferenceShapes: the reference states the shapes of an attention's own parameters as the layer declares them.
func TestReferenceShapes(t *testing.T) {
	const sizes = `"embed_dim": 66, "num_heads": 3, "num_kv_heads": 1, "head_dim": 22, "value_dim": 10`
	letters := strings.NewReplacer("D/2", "11", "H·D", "66", "K·D", "22", "D", "22", "H", "3")
	words := strings.Join(strings.Fields(Reference), " ")
	for _, row := range []struct{ says, of, options string }{
		{"(D) with qk_norm", "q_norm.weight k_norm.weight", `"qk_norm": "rms"`},
		{"(D/2) if also differential", "q_norm.weight k_norm.weight", `"qk_norm": "rms", "differential": {}`},
		{"(H·D) and (K·D) with qk_norm_whole", "q_norm.weight", `"qk_norm": "rms", "qk_norm_whole": true`},
		{"(K·D) with qk_norm_whole", "k_norm.weight", `"qk_norm": "rms", "qk_norm_whole": true`},
		{"(D/2) and subln.weight", "lambda_q1 lambda_k1 lambda_q2 lambda_k2", `"differential": {}`},
		{"(H); lambda_q1", "sinks", `"sinks": true`},
	} {
		require.Contains(t, words, row.says)
		l := must(Parse([]byte(`{"layer": "attention", ` + sizes + `, ` + row.options + `}`)))
		shape, _, _ := strings.Cut(row.says, ")")
		for _, name := range strings.Fields(row.of) {
			found := false
			for declared, is := range l.parameters.Shapes() {
				if declared == name {
					found = true
					require.Equal(t, letters.Replace(shape+")"), fmt.Sprint(is), "%s with %s", name, row.options)
				}
			}
			require.True(t, found, name)
		}
	}
}
