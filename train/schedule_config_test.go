package train_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/train"
)

func TestScheduleConfigJSON(t *testing.T) {
	cosine := train.CosineLR{Peak: 1, Floor: 0.1, WarmupSteps: 2, Steps: 9}
	for _, c := range []struct {
		name, written string
		config        train.ScheduleConfig
	}{
		{name: "constant", config: train.ConstantRate(0.1), written: `{"type":"constant","rate":0.1}`},
		{name: "cosine", config: train.ScheduleConfig{Schedule: cosine},
			written: `{"type":"cosine","peak":1,"floor":0.1,"warmup_steps":2,"steps":9}`},
		{name: "wsd", config: train.ScheduleConfig{Schedule: train.WSD{Peak: 1, Floor: 0.1, WarmupSteps: 2, DecaySteps: 9}},
			written: `{"type":"wsd","peak":1,"floor":0.1,"warmup_steps":2,"stable_steps":0,"decay_steps":9}`},
	} {
		require.Equal(t, c.written, string(must(json.Marshal(c.config))))
		back := train.ConstantRate(7) // replaced, not merged
		require.NoError(t, json.Unmarshal([]byte(c.written), &back), c.name)
		require.Equal(t, c.config, back)
	}
}

func TestScheduleConfigRefuses(t *testing.T) {
	require.EqualError(t, train.ScheduleConfig{}.Validate(), "got none, want a constant, a cosine or a WSD schedule")
	require.EqualError(t, train.ConstantRate(-1).Validate(), "Rate: got -1, want a finite number of at least 0")
	for _, c := range []struct{ text, want string }{
		{text: `{}`, want: `type: got "", want one of constant, cosine, wsd`},
		{text: `{"type": "linear"}`, want: `type: got "linear", want one of constant, cosine, wsd`},
		{text: `{"type": "constant", "peak": 1}`, want: `unknown field "peak"; it has type, rate`},
		{text: `{"type": "cosine", "steps": "9"}`, want: `steps: got "9", want a whole number`},
		{text: `{"cosine": {"peak": 1}}`, want: `type: got "", want one of constant, cosine, wsd`},
	} {
		kept := train.ConstantRate(7)
		require.ErrorContains(t, json.Unmarshal([]byte(c.text), &kept), c.want)
		require.Equal(t, train.ConstantRate(7), kept)
	}
	_, err := json.Marshal(train.ScheduleConfig{Schedule: halving{}})
	require.ErrorContains(t, err, "got a train_test.halving, want a constant rate, a CosineLR or a WSD")
}

// halving is a custom schedule.
type halving struct{ train.CosineLR }
