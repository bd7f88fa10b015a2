package layers

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// with sets a setting of a rule, and the settings that it needs.
func (c *AttentionConfig) with(t *testing.T, setting string) {
	path, word, exact := strings.Cut(setting, "=")
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(path, ".") {
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		v = v.FieldByName(part)
	}
	switch {
	case exact:
		v.SetString(word)
	case path == "QKNorm":
		c.QKNorm = RMSNorm
	default:
		setField(t, v)
	}
	for _, r := range slices.Concat(attentionRules, layoutRules) {
		if r.Need != "" && slices.Contains(strings.Fields(r.Settings), setting) {
			c.with(t, r.Need)
		}
	}
}

// For each row of the tables, both settings together give an error that names both, and neither alone gives this row's
// error. A new row is tested automatically.
func TestSettingsThatExcludeEachOther(t *testing.T) {
	rows := 0
	for _, r := range slices.Concat(attentionRules, layoutRules) {
		for setting := range strings.FieldsSeq(r.Settings) {
			alone := AttentionConfig{EmbedDim: 6, NumHeads: 2}
			alone.with(t, setting)
			refused, with := alone, " with "+r.Exclude
			if r.Need == "" {
				refused.with(t, r.Exclude)
			} else {
				path, _, exact := strings.Cut(r.Need, "=")
				without := reflect.ValueOf(&refused).Elem().FieldByName(path)
				without.SetZero()
				if exact {
					without.SetString("torch")
				}
				with = " without " + r.Need
			}
			field, _, _ := strings.Cut(setting, "=")
			require.Regexp(t, "^layers: Attention: "+field+": got .+"+with+", want ", refused.Validate(), setting)
			p := NewParams(tensor.Float32, 1)
			_, err := NewAttention(p.Scope(""), refused)
			require.EqualError(t, err, refused.Validate().Error())
			require.Zero(t, p.Len(), "nothing was made")
			if err := alone.Validate(); err != nil {
				require.NotContains(t, err.Error(), with, setting)
			}
			rows++
		}
	}
	require.Greater(t, rows, 25)
}
