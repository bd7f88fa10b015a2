package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/safetensors"
	"attention/internal/simd"
	"attention/train/checkpoint"
	"attention/train/text"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestUnknownCommandIsAnError(t *testing.T) {
	_, _, err := attention(t, "trian")
	require.ErrorContains(t, err, `unknown command "trian"`)
	text, notes, help := attention(t, "help", "trian")
	require.EqualError(t, help, err.Error())
	require.Empty(t, text+notes)
	_, _, err = attention(t, "help", "bench", "forward")
	require.EqualError(t, err, `unknown command "forward" for "attention bench"`)
	for _, args := range [][]string{{"help"}, {"help", "train"}, {"help", "help"}} {
		text, _, err = attention(t, args...)
		require.NoError(t, err)
		require.NotEmpty(t, text)
	}
}

func TestVersion(t *testing.T) {
	printed, _, err := attention(t, "--version")
	require.NoError(t, err)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	require.Regexp(t, `^attention \S+( \S+)? go1\.\S+ `+platform+` (go|avx2|avx512|neon)\n$`, printed)
}

// TestKernelsOfTheEnvironment: an environment variable chooses the kernels. If that is impossible, the error says why
// in one line.
func TestKernelsOfTheEnvironment(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, row := range []struct{ kernels, command, want string }{
		{kernels: "go", command: "--version", want: "/" + runtime.GOARCH + " go\n$"},
		{kernels: "go", command: "bench --tokens 4 --width 4 --heads 1 --runs 1",
			want: "^kernels go, .* GFLOP/s in float32 on "},
		{kernels: "sse", command: "bench", want: `^attention: bench: ATTENTION_KERNELS: got "sse", want go.*\n$`},
		{kernels: "sse", command: "train", want: `^attention: train: ATTENTION_KERNELS: got "sse", want go.*\n$`},
	} {
		command := exec.CommandContext(t.Context(), self, strings.Fields(row.command)...)
		command.Env = append(os.Environ(), programVariable+"=1", simd.Variable+"="+row.kernels)
		command.Dir = t.TempDir()
		printed, err := command.CombinedOutput()
		require.Equal(t, row.kernels == "go", err == nil, "%s", printed)
		require.Regexp(t, row.want, string(printed), row.command)
	}
}

// The hints contain the name by which the user started the program: a name, a path or go run. So they can be pasted.
func TestHints(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, row := range []struct{ file, path, want string }{
		{file: "attention", path: dir, want: "attention"},
		{file: "attention", want: dir + "/attention"},
		{file: "my program", want: "'" + dir + "/my program'"},
		{file: "go-build1/b001/exe/attention", want: "go run ./cmd/attention"},
	} {
		file := filepath.Join(dir, row.file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if row.path != "" || row.file != "attention" {
			require.NoError(t, os.Symlink(self, file))
		}
		command := exec.CommandContext(t.Context(), file, "generate", "--modle", "runs/1")
		command.Env = append(os.Environ(), programVariable+"=1", "PATH="+row.path)
		printed, err := command.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, "attention: generate: unknown flag: --modle; see "+row.want+" generate --help\n"+
			"Did you mean this? --model\n", string(printed))
	}
}

// Every help text and report fits the width of a terminal, apart from names and texts of the user.
func TestColumns(t *testing.T) {
	files, err := filepath.Abs(filepath.Join(repository, "testdata/apply/attention_torch"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(files, "files"))
	require.NoError(t, os.WriteFile("layer.json", []byte(`{"layer": "attention", "layout": "torch", "embed_dim": 6, `+
		`"num_heads": 3, "qkv_bias": true, "out_bias": true, "mask": {"type": "causal"}}`), 0o644))
	const small = "train --steps 5 --eval-every 2 --sample 40 --prompt mask "
	lines := []string{"--help", "--version",
		small + "--width 8 --dropout 0.1 --out layer",
		small + "--model gpt --width 16 --layers 12 --kv-heads 1 --solver sgd --momentum 0.5 --weight-decay 0.1 " +
			"--dropout 0.1 --eval-batches 2 --out gpt",
		small + "--freeze tokens --group attention:lr_factor=0.1,weight_decay=0.01 --group output:weight_decay=0.1 " +
			"--patience 2 --min-delta 100 --steps 2000 --best --out best",
		"train --resume gpt --steps 9", "runs .", "generate --model gpt --prompt the --tokens 20 --stats",
		"export --model gpt --format torch --out torch", "chapter", "translate --steps 2 --width 8 --heads 1",
		"gradcheck --fast --run ^R", "gradcheck --fast --all --run Head", "bench --tokens 8 --width 8 --heads 2 --runs 1",
		"apply --config layer.json --weights files/w.safetensors --input files/in.safetensors --output out.safetensors"}
	lines = append(lines, "train --help all", "runs compare --help", "runs remove --help", "runs compare layer gpt")
	for _, command := range newRoot().Commands() {
		lines = append(lines, command.Name()+" --help")
	}
	for _, line := range lines {
		printed, notes, err := attention(t, strings.Fields(line)...)
		require.NoError(t, err, line)
		for row := range strings.Lines(printed + notes) {
			row = strings.TrimSuffix(row, "\n")
			require.LessOrEqual(t, utf8.RuneCountInString(row), 80, "%s: %s", line, row)
		}
	}
}

// attention runs the program and returns its standard output and its standard error.
func attention(t testing.TB, args ...string) (text, notes string, err error) {
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

// trainText runs attention train and returns its output.
func trainText(t testing.TB, args ...string) string {
	t.Helper()
	printed, _, err := attention(t, append([]string{"train"}, args...)...)
	require.NoError(t, err)
	return printed
}

// generateText returns the text that attention generate prints.
func generateText(t testing.TB, args ...string) string {
	t.Helper()
	text, notes, err := attention(t, append([]string{"generate"}, args...)...)
	require.NoError(t, err)
	require.Empty(t, notes)
	return text
}

// trainTiny trains a tiny model in a new folder and returns the folder and the output.
func trainTiny(t testing.TB, flags ...string) (folder, printed string) {
	t.Helper()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text,
		[]byte(strings.Repeat("the quick brown fox jumps over a lazy dog\nand goes on\n", 16)), 0o644))
	folder = filepath.Join(dir, "run")
	tiny := strings.Fields("--width 8 --heads 2 --context 6 --batch 3 --steps 12 --eval-every 5 --sample 40 --text " +
		text + " --out " + folder)
	return folder, trainText(t, append(tiny, flags...)...)
}

// gptFlags are flags of trainTiny for a GPT.
var gptFlags = strings.Fields("--model gpt --layers 2 --lr 0.01")

// A model that is exported to either format and read again has the same bits.
func TestExport(t *testing.T) {
	g := commandtest.SmallGPT(t)
	from := commandtest.WriteGPT(t, g)
	want := generateText(t, "--model", from, "--prompt", "abc", "--tokens", "20")
	for _, step := range []struct{ format, files string }{
		{format: "huggingface", files: "config.json, model.safetensors, tokenizer.json, tokenizer_config.json"},
		{format: "torch", files: "config.json, model.safetensors, model.py"},
		{"huggingface", "config.json, model.safetensors, tokenizer.json, tokenizer_config.json"},
	} {
		to := filepath.Join(t.TempDir(), "to")
		said, _, err := attention(t, "export", "--model", from, "--format", step.format, "--out", to)
		require.NoError(t, err)
		require.Equal(t, "In "+to+": "+step.files+"\n", said)
		require.Equal(t, want, generateText(t, "--model", to, "--prompt", "abc", "--tokens", "20"))
		from = to
	}
	again, err := commandtest.Inspect(t, from).GPT()
	require.NoError(t, err)
	for name, value := range g.Params.All() {
		got, ok := again.Params.Get(name)
		require.True(t, ok)
		require.Equal(t, value.Data(), got.Data(), name)
	}
}

// A model of the preset speedrun is a Qwen 3 whose norms have one epsilon, and is exported as one.
func TestExportSpeedrun(t *testing.T) {
	folder, _ := trainTiny(t, "--preset", "speedrun", "--context-growth", "none", "--tokenizer", text.GPT2,
		"--sample", "0")
	for format, want := range map[string]string{"huggingface": `"model_type": "qwen3"`, "gguf": "qwen3.attention.layer_norm_rms"} {
		to := filepath.Join(t.TempDir(), "to")
		_, _, err := attention(t, "export", "--model", folder, "--format", format, "--out", to)
		require.NoError(t, err)
		if format == "huggingface" {
			to = filepath.Join(to, "config.json")
		}
		content, err := os.ReadFile(to)
		require.NoError(t, err)
		require.Contains(t, string(content), want)
	}
}

// attention generate reads the folder of a run with any tokenizer.
func TestGenerateWithEveryTokenizer(t *testing.T) {
	for _, tokenizer := range []string{text.Characters, text.Bytes, text.GPT2} {
		dir, _ := trainTiny(t, append(gptFlags, "--tokenizer", tokenizer)...)
		require.NotEmpty(t, generateText(t, "--model", dir, "--prompt", "the", "--tokens", "3"))
	}
}

// attention generate uses the newest checkpoint of an unfinished run.
func TestGenerateFromUnfinishedRuns(t *testing.T) {
	for _, flags := range [][]string{gptFlags, {"--layer", "additive"}} {
		dir, _ := trainTiny(t, append(flags, "--save-every", "5", "--keep", "3", "--dtype", "float64")...)
		args := []string{"--model", dir, "--prompt", "the qu", "--tokens", "30"}
		want := generateText(t, args...)
		require.NoError(t, os.Remove(filepath.Join(dir, settings.ModelFile)))
		newest := filepath.Join(dir, settings.CheckpointsFolder, "step-00000012.safetensors")
		text, notes, err := attention(t, append([]string{"generate"}, args...)...)
		require.NoError(t, err)
		require.Equal(t, want, text)
		require.Equal(t, "attention: the run is not finished: the weights are those of "+newest+"\n", notes)

		config := filepath.Join(dir, settings.ConfigFile)
		content, err := os.ReadFile(config)
		require.NoError(t, err)
		text = string(content)
		require.NoError(t, os.WriteFile(config, []byte(strings.Replace(text, `"batch": 3`, `"batch": 3, "batch": 4`, 1)),
			0o644))
		_, _, err = attention(t, append([]string{"generate"}, args...)...)
		require.EqualError(t, err, "--model: "+config+`: field "batch" comes twice`)
		require.NoError(t, os.WriteFile(config, []byte(text), 0o644))

		require.NoError(t, os.WriteFile(config, []byte(flipVocabulary(t, text)), 0o644))
		_, _, err = attention(t, append([]string{"generate"}, args...)...)
		require.ErrorContains(t, err, ", that of "+newest)
		require.NoError(t, os.WriteFile(config, []byte(text), 0o644))

		content, err = os.ReadFile(newest)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(newest, content[:len(content)-1], 0o644))
		older, notes, err := attention(t, append([]string{"generate"}, args...)...)
		require.NoError(t, err)
		require.NotEqual(t, want, older)
		require.Contains(t, notes, "attention: train: checkpoint: "+newest+": damaged: ")
		require.Contains(t, notes, "\nattention: the run is not finished: the weights are those of "+
			filepath.Join(filepath.Dir(newest), "step-00000010.safetensors")+"\n")
		for _, steps := range commandtest.Inspect(t, dir).Checkpoints {
			path := checkpoint.Path(filepath.Join(dir, settings.CheckpointsFolder), steps)
			require.NoError(t, os.WriteFile(path, nil, 0o644))
		}
		_, _, err = attention(t, append([]string{"generate"}, args...)...)
		require.ErrorIs(t, err, checkpoint.ErrDamaged)
	}
}

// flipVocabulary replaces the last character of a run's vocabulary.
func flipVocabulary(t *testing.T, config string) string {
	flipped := strings.Replace(config, `z"`, `{"`, 1)
	require.NotEqual(t, config, flipped)
	return flipped
}

// If a file of a finished run's model has changed, each command that reads the model names the file and exits with code
// 1.
func TestChangedModelsAreNamed(t *testing.T) {
	for _, layer := range []bool{false, true} {
		flags := gptFlags
		if layer {
			flags = nil
		}
		dir, _ := trainTiny(t, flags...)
		model, config := filepath.Join(dir, settings.ModelFile), filepath.Join(dir, settings.ConfigFile)
		weights, err := os.ReadFile(model)
		require.NoError(t, err)
		text, err := os.ReadFile(config)
		require.NoError(t, err)
		requireNamed := func(want string) {
			t.Helper()
			commands := [][]string{{"generate", "--model", dir, "--prompt", "the qu"}}
			if !layer {
				commands = append(commands, []string{"train", "--init", dir, "--text",
					filepath.Join(filepath.Dir(dir), "text.txt"), "--out", filepath.Join(t.TempDir(), "out")},
					[]string{"export", "--format", "torch", "--out", filepath.Join(t.TempDir(), "out"), "--model", dir})
			}
			for _, args := range commands {
				_, _, err := attention(t, args...)
				require.ErrorContains(t, err, want, "%v", args)
				require.Equal(t, 1, term.ExitCode(err))
			}
		}
		weights[len(weights)-2] ^= 1
		require.NoError(t, os.WriteFile(model, weights, 0o644))
		requireNamed(model + ": damaged: checksum: got ")
		weights[len(weights)-2] ^= 1
		require.NoError(t, os.WriteFile(model, bytes.Replace(weights, []byte("attention.sha256"),
			[]byte("attention.sha257"), 1), 0o644))
		requireNamed(model + ": damaged: got no checksum, want one")
		require.NoError(t, os.WriteFile(model, weights, 0o644))

		require.NoError(t, os.WriteFile(config, []byte(flipVocabulary(t, string(text))), 0o644))
		requireNamed(config + `: vocabulary.characters: got …"`)
		requireNamed(", that of " + model)
		require.NoError(t, os.WriteFile(config, append(text, "{}"...), 0o644))
		requireNamed("not JSON: invalid character '{' after top-level value, want one JSON object")
		require.NoError(t, os.WriteFile(config, text, 0o644))

		f, err := safetensors.ReadFile(model)
		require.NoError(t, err)
		f.Metadata = nil
		last := f.Tensors[len(f.Tensors)-1]
		last.Data.([]float32)[0] = float32(math.NaN())
		require.NoError(t, safetensors.WriteFile(model, f))
		requireNamed("parameter " + last.Name + ": has values that are not finite")
	}
}

// Commands that need the model of an unfinished run return an error that says how to get one.
func TestUnfinishedRunsAreNoModels(t *testing.T) {
	dir, _ := trainTiny(t, gptFlags...)
	model := filepath.Join(dir, settings.ModelFile)
	want, err := os.ReadFile(model)
	require.NoError(t, err)
	require.NoError(t, os.Remove(model))
	said := dir + ": got a run that is not finished, want one that is; " +
		"to end it where it stands: attention train --resume " + dir + " --steps 12"
	_, _, err = attention(t, "export", "--model", dir, "--format", "torch", "--out", filepath.Join(t.TempDir(), "out"))
	require.EqualError(t, err, "--model: "+said)
	_, _, err = attention(t, "train", "--init", dir)
	require.EqualError(t, err, "--init: "+said)
	trainText(t, "--resume", dir, "--steps", "12")
	got, err := os.ReadFile(model)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A run is not finished if it was resumed after it wrote its model, and then killed.
func TestResumedRunsAreUnfinished(t *testing.T) {
	dir, _ := trainTiny(t, gptFlags...)
	model := filepath.Join(dir, settings.ModelFile)
	old, err := os.ReadFile(model)
	require.NoError(t, err)
	require.False(t, commandtest.Inspect(t, dir).Unfinished())
	trainText(t, "--resume", dir, "--steps", "20")
	args := []string{"--model", dir, "--prompt", "the qu", "--tokens", "30"}
	want := generateText(t, args...)
	require.NoError(t, os.WriteFile(model, old, 0o644))
	text, notes, err := attention(t, append([]string{"generate"}, args...)...)
	require.NoError(t, err)
	require.Equal(t, want, text)
	require.Contains(t, notes, "step-00000020.safetensors")
	_, _, err = attention(t, "export", "--model", dir, "--format", "torch", "--out", filepath.Join(t.TempDir(), "out"))
	require.ErrorContains(t, err, "got a run that is not finished")
}

// The sample that a run prints equals the output of attention generate.
func TestGenerateGoesOnAsTheSample(t *testing.T) {
	for _, flags := range [][]string{gptFlags, {"--layer", "causal"}} {
		dir, printed := trainTiny(t, append(flags, "--prompt", "the")...)
		_, sample, found := strings.Cut(printed, "\nthe model continues:\n\n")
		require.True(t, found)
		sample, _, found = strings.Cut(sample, "\n\nHow far training moved the weights")
		require.True(t, found)
		require.NotEmpty(t, sample)
		require.Equal(t, "the"+sample+"\n",
			generateText(t, "--model", dir, "--prompt", "the", "--tokens", "40", "--temperature", "1"))
	}
}

// For a wrong value of a flag every command prints one line, with the flag, the value and the values that it accepts.
func TestUnreadableValues(t *testing.T) {
	unreadable := 0
	for _, cmd := range newRoot().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if err := cmd.ParseFlags([]string{"--" + f.Name + "=?"}); err != nil {
				unreadable++
				require.Regexp(t, `^--`+f.Name+`: got "\?", want [a-z]`, cmd.FlagErrorFunc()(cmd, err), cmd.Name())
			}
		})
	}
	require.Greater(t, unreadable, 60, "numbers and switches")
}
