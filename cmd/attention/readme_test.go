package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// repository is the way from this folder to the repository's.
const repository = "../.."

// manual is the command's own README.
const manual = "README.md"

// guide is the contributor's guide.
const guide = "../../internal/README.md"

// readmes are all READMEs that are held to be right.
var readmes = []string{"../../README.md", manual, guide, "benchmarks.md", "models.md", encoders, "data.md", finetuning, skilled,
	"../../layers/README.md", "../../layers/names.md", "../../layers/cookbook.md", "../../layers/chapter/README.md",
	"../../layers/chapter/afterbook.md", "../../testdata/claims/speedrun.md"}

// foreign are the beginnings of shell lines that the test skips: they download, need PyTorch, or run these tests.
var foreign = []string{"curl ", "apt-get ", "python3 ", "go test ", "hf "}

// install is the shell line that installs the program from the repository, in the first README. The installed program
// runs the lines after it. The lines of the other READMEs run the test binary.
const install = "go install ./cmd/attention"

// goRun is the beginning of a shell line that builds and runs the program. The test builds it in the repository and
// runs it in the README's folder, so that the line writes no files into the repository.
const goRun = "go run ./cmd/attention "

// untilCtrlC is appended to a line that serves a page: it waits until the program prints the URL, and sends Ctrl-C.
const untilCtrlC = "> said 2>&1 & until grep -qs Ctrl-C said || ! kill -0 $!; do sleep 0.1; done; cat said; " +
	"rm said; kill -TERM $!; wait $!"

// shortened are the lines of long runs, with flags that the test adds, or with an end such as untilCtrlC.
var shortened = map[string]string{
	goRun + "train --steps 800 --out runs/first":       "--steps 20",
	"attention train --out runs/first":                 "--steps 20",
	"attention train --layer causal --out runs/causal": "--steps 20",
	"attention train --preset tiny --out runs/tiny":    "--steps 20",
	"attention translate --out runs/dates":             "--steps 10",
	"attention why":                                    "--steps 1 --seeds 1",
	"attention compare --text tinyshakespeare.txt":     "--steps 1 --attention full,linear",
	"attention compare --task recall --attention full,grouped,window,linear,gated_delta_net --out compare/recall":                             "--steps 1",
	"attention train --preset nano-char --text tinyshakespeare.txt --out runs/shakespeare":                                                    "--steps 2",
	"attention train --preset nano-char --text tinyshakespeare.txt --tokenizer shakespeare.json --out runs/pairs":                             "--steps 2",
	"attention train --preset nano-char --text tinyshakespeare.txt --tokenizer shakespeare.json --context 192 --out runs/wide":                "--steps 2",
	"attention finetune --model runs/wide --data talks.jsonl --valid talks.jsonl --steps 60 --lr 0.002 --out runs/talks":                      "--steps 2",
	"attention finetune --task classify --model runs/wide --data lines.csv --valid lines.csv --steps 40 --lora 0 --lr 0.001 --out runs/lines": "--steps 2",
	"attention finetune --model minilm --task embed --data products --batch 30 --epochs 12 --out runs/products":                               "--steps 2",
	"attention train --resume runs/shakespeare --steps 2500":                                                                                  "--steps 3",
	"attention train --preset tiny --steps 5000 --patience 5 --best --out runs/best":                                                          "--steps 20 --eval-every 5",
	"attention train --preset llama-char --text tinyshakespeare.txt --out runs/llama":                                                         "--steps 2",
	"attention train --model gpt --rope --norm rms --mlp swiglu --bias=false --window 16 --out runs/window":                                   "--steps 2",
	"attention train --model gpt --attention gated_delta_net --full-attention-every 4 --out runs/delta":                                       "--steps 2",
	"attention train --model gpt --attention forgetting --out runs/forgetting":                                                                "--steps 2",
	"attention train --model gpt --attention latent --rope --width 64 --heads 4 --out runs/latent":                                            "--steps 2",
	"attention train --model gpt --attention moba --context 128 --out runs/moba":                                                              "--steps 2",
	"attention train --model gpt --attention differential --out runs/differential":                                                            "--steps 2",
	"attention train --config gemma.json --layers 3 --context 32 --out runs/gemma":                                                            "--steps 2",
	"attention train --preset book --text the-verdict.txt --out runs/book": "--steps 1 " +
		"--layers 1 --heads 1 --width 4 --eval-batches 1 --sample 1",
	"attention train --preset book-small --text the-verdict.txt --out runs/book-small": "--steps 1 " +
		"--eval-batches 1 --sample 1",
	"attention train --preset gpt2 --init gpt2 --text novel.txt --context 256 --out runs/novel": "--steps 1 " +
		"--accumulate 1 --eval-batches 1 --sample 1",
	"attention train --preset speedrun --lr 0.02 --momentum 0.95 --context-growth none --text skills/text.txt --tokenizer tokenizer.json --batch 32 --steps 1000 --eval-batches 20 --out runs/base": "--steps 2 " +
		"--eval-batches 1",
	"attention finetune --model runs/base --template skills/talks.jinja --data sums.jsonl --valid valid.jsonl --context 64 --epochs 60 --lr 0.003 --out runs/sums": "--steps 2 " +
		"--eval-every 0",
	"attention finetune --model runs/base --template skills/talks.jinja --data skills/talks --context 64 --batch 16 --epochs 8 --lr 0.005 --out runs/talks": "--steps 2 " +
		"--eval-every 0 --sample 4",
	"attention finetune --task classify --model runs/base --data skills/classes --context 64 --batch 16 --epochs 4 --lr 0.005 --out runs/classes": "--steps 2 " +
		"--eval-every 0",
	"attention finetune --model smollm2 --data orders.jsonl --out runs/orders": "--steps 4 --sample 4",
	"attention chat --model runs/orders --temperature 0 < questions.txt":       "--tokens 4",
	"go run testdata/skills/check.go runs/sums test.jsonl":                     "9",
	"go run testdata/skills/check.go runs/talks skills/talks/test.jsonl":       "9",
	"go run testdata/skills/check.go runs/classes skills/classes/test.tsv":     "9",

	`attention view --model runs/first --text "It is the attention of each word"`:                         untilCtrlC,
	`attention view --model smollm2 --text "The animal didn't cross the street because it was too tired"`: untilCtrlC,
	"attention view --chapter":                                 untilCtrlC,
	"attention view --run runs":                                untilCtrlC,
	"attention why --view":                                     untilCtrlC,
	`attention view --chapter --text "the cat sat on the mat"`: untilCtrlC,
	"attention train --preset tiny --out runs/live --view":     "--steps 20 " + untilCtrlC,
}

// programVariable is in the environment of the shell lines: if it is set, the test binary is the program.
const programVariable = "ATTENTION_TEST_PROGRAM"

// TestMain makes the program draw its pictures as sketches, since no test here looks at them.
func TestMain(m *testing.M) {
	commandtest.SketchPictures()
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestReadmeShellLines runs every shell block of the READMEs. The blocks of one README run in their order in one new
// folder. The program must print the block of text after a shell block.
func TestReadmeShellLines(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of CPU time")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	here := strings.NewReplacer("../attention", root, // whose packages are built already
		install, fmt.Sprintf("go install -C '%s' ./cmd/attention", root),
		goRun, fmt.Sprintf("go build -C '%s' -o \"$GOBIN/run\" ./cmd/attention; run ", root))
	scripts, long := map[string][]shellScript{}, maps.Clone(shortened)
	for _, path := range readmes {
		scripts[path] = shellScripts(readFile(t, path), path == readmes[0], shortened)
		for _, s := range scripts[path] {
			maps.DeleteFunc(long, func(line, flags string) bool { return slices.Contains(s.lines, line+" "+flags) })
		}
	}
	require.Empty(t, long, "lines that no README has")
	for _, path := range readmes {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			dir, environment := readmeFolder(t, root, path)
			for _, s := range scripts[path] {
				printed := s.run(t, dir, environment, here)
				if !s.whole {
					requireShown(t, s.shown, printed, regexp.MustCompile(`[0-9.]+`))
				}
			}
		})
	}
}

// shellLines returns the lines of a script in the form in which the test runs them: some are shortened.
func shellLines(script string, installs bool, shortened map[string]string) (lines []string) {
	for _, line := range strings.Split(strings.ReplaceAll(script, "\\\n", ""), "\n") {
		line, _, _ = strings.Cut(line, "  #")
		line = strings.TrimRight(line, " ")
		if slices.ContainsFunc(foreign, func(begin string) bool { return strings.HasPrefix(line, begin) }) ||
			line == install && !installs {
			continue
		}
		if flags, ok := shortened[line]; ok {
			line += " " + flags
		}
		lines = append(lines, line)
	}
	return lines
}

// readmeFolder returns a new folder in which the shell lines of a README can run, and their environment. The folder has
// the program and the files that the lines name.
func readmeFolder(t *testing.T, root, path string) (dir string, environment []string) {
	dir = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	if path != readmes[0] {
		self, err := os.Executable()
		require.NoError(t, err)
		require.NoError(t, os.Symlink(self, filepath.Join(dir, "bin/attention")))
	}
	require.NoError(t, os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")))
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	markdown := readFile(t, path)
	if strings.Contains(markdown, "`mine/main.go`") {
		write("mine/main.go", codeBlocks(markdown, "go")[0])
	}
	if strings.Contains(markdown, "`novel.txt`") {
		text := readFile(t, "internal/run/settings/text/attention.txt")
		write("novel.txt", text)
		write("tinyshakespeare.txt", "ROMEO:\n"+text)
		write("the-verdict.txt", text)
		exportSmall(t, filepath.Join(dir, "gpt2"))
	}
	if strings.Contains(markdown, "--local-dir smollm2") {
		exportSmall(t, filepath.Join(dir, "smollm2"), "--rope", "--norm", "rms", "--mlp", "swiglu", "--bias=false")
		write("smollm2/chat_template.jinja", "{% for m in messages %}{{ m.role }}: {{ m.content }}<|endoftext|>{% endfor %}")
	}
	if strings.Contains(markdown, "--local-dir minilm") {
		require.NoError(t, os.Symlink(filepath.Join(root, "testdata/encoders/bert"), filepath.Join(dir, "minilm")))
	}
	programs := filepath.Join(dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
	return dir, append(os.Environ(), "PATH="+programs, "GOBIN="+filepath.Join(dir, "bin"), programVariable+"=1")
}

// exportSmall writes a Hugging Face folder with a small model in place of a published one. flags are added to those of
// its training.
func exportSmall(t *testing.T, dir string, flags ...string) {
	run := filepath.Join(t.TempDir(), "small")
	trainText(t, slices.Concat(strings.Fields("--model gpt --tokenizer gpt2 --layers 1 --heads 1 --width 4 --context 256"),
		strings.Fields("--batch 1 --steps 1 --eval-batches 1 --sample 0 --out "+run), flags)...)
	_, _, err := attention(t, "export", "--model", run, "--format", "huggingface", "--out", dir)
	require.NoError(t, err)
}

// TestReadmeRuns checks that each README uses only runs that its own earlier lines make.
func TestReadmeRuns(t *testing.T) {
	for _, path := range readmes {
		made := map[string]bool{}
		for _, script := range codeBlocks(readFile(t, path), "sh") {
			for line := range strings.Lines(script) {
				for _, folder := range regexp.MustCompile(`\bruns/[a-z0-9]+`).FindAllString(line, -1) {
					out := strings.Contains(line, "--out "+folder)
					require.True(t, out || made[folder], "%s: %s names %s, which no line before it makes", path, line, folder)
					made[folder] = true
				}
				if strings.HasPrefix(strings.TrimPrefix(line, "go run ./cmd/"), "attention train ") {
					require.Regexp(t, "--out |--resume ", line, "the first free number may be another run's")
				}
			}
		}
	}
}

// TestManualFlags: the manual has a section for each command, and the READMEs use only flags that some command has.
func TestManualFlags(t *testing.T) {
	known := []string{"help", "version", "local-dir"} // the last is that of hf
	for _, command := range newRoot().Commands() {
		name := command.Name()
		require.Regexp(t, "\n\\| \\[`"+name+"`\\]\\((#attention-"+name+"|[a-z]+\\.md#[a-z-]+)\\) \\| ", readFile(t, manual))
		command.LocalFlags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	}
	for _, path := range readmes {
		for _, match := range regexp.MustCompile("`--([a-z][a-z0-9-]*)").FindAllStringSubmatch(readFile(t, path), -1) {
			require.Contains(t, known, match[1], path)
		}
	}
}

// TestReadmeLinks checks that all links in the READMEs have a target.
func TestReadmeLinks(t *testing.T) {
	for _, path := range readmes {
		link, code := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`), regexp.MustCompile("(?ms)^```.*?^```")
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(readFile(t, path), ""), -1) {
			target := path
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(path), match[1])
			}
			text := readFile(t, target)
			if heading := match[2]; heading != "" {
				require.Contains(t, anchors(text), heading, path)
			}
		}
	}
}

// anchors returns the names that GitHub gives to the headings of Markdown.
func anchors(markdown string) (names []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(markdown, -1) {
		name := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestGuideRooms: the contributor's guide names every public package, and only files and folders that exist.
func TestGuideRooms(t *testing.T) {
	text := readFile(t, guide)
	for _, p := range listPackages(t) {
		room := strings.TrimPrefix(p.ImportPath, "attention/")
		if !strings.Contains(room, "internal/") {
			require.Contains(t, text, "`"+room+"`")
		}
	}
	var files []string
	require.NoError(t, filepath.WalkDir(repository, func(path string, _ fs.DirEntry, err error) error {
		files = append(files, filepath.ToSlash(path))
		return err
	}))
	for _, named := range regexp.MustCompile("`([a-z0-9_/.]+(?:/[a-z0-9_]+|\\.(?:go|js|py)))`").FindAllStringSubmatch(text, -1) {
		require.True(t, slices.ContainsFunc(files, func(path string) bool {
			return strings.HasSuffix(path, "/"+named[1])
		}), "%s names %s, which is not there", guide, named[1])
	}
}

// TestFiguresNameTheirKernels: a section with means over several seeds names the kernels. They determine the order of
// the terms in sums, and therefore the result of a seed.
func TestFiguresNameTheirKernels(t *testing.T) {
	of, found := regexp.MustCompile(`(?i)seeds?\b`), 0
	for _, path := range readmes {
		for _, section := range regexp.MustCompile(`(?m)^##? `).Split(readFile(t, path), -1) {
			if of.MatchString(section) && strings.Contains(section, " ± ") {
				found++
				require.Regexp(t, "AVX-512|AVX2|avx512|avx2", section, path)
			}
		}
	}
	require.Greater(t, found, 5)
}

// TestReadmeSize keeps the first pages short.
func TestReadmeSize(t *testing.T) {
	require.LessOrEqual(t, strings.Count(readFile(t, readmes[0]), "\n"), 150)
	require.LessOrEqual(t, strings.Count(readFile(t, guide), "\n"), 200)
	require.LessOrEqual(t, strings.Count(readFile(t, manual), "\n"), 750)
}

// codeBlocks returns the contents of all blocks of a language in Markdown.
func codeBlocks(markdown, language string) (blocks []string) {
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(markdown, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

func readFile(t *testing.T, path string) string {
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
