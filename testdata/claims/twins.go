package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// twinSeeds are fewer than those of other tables, from 1 on.
const twinSeeds = 3

// training trains with a seed. It returns the seconds of the process until its loss is known, and that loss.
type training func(seed int) (seconds, loss float64)

// tuned makes PyTorch 1.13 faster. OpenBLAS may not know the processor, which needs AVX-512 here, and memory that is kept
// need not be zeroed again.
var tuned = []string{"OPENBLAS_CORETYPE=SKYLAKEX", "ATEN_CPU_CAPABILITY=avx512", "MALLOC_MMAP_MAX_=0",
	"MALLOC_TRIM_THRESHOLD_=100000000000"}

// twins trains the preset speedrun and its twin in plain PyTorch, and nano-char beside nanoGPT's own program if NANOGPT
// is its folder, with data/shakespeare_char prepared, in turns. It needs python3 with torch.
func (c claims) twins(text string) {
	script, err := filepath.Abs("testdata/torch/speedrun.py")
	check(err)
	ours := func(preset string) training {
		return func(seed int) (float64, float64) {
			_, seconds, loss := c.train(preset, text, seed)
			return seconds, loss
		}
	}
	twin := func(env []string) training {
		return func(seed int) (float64, float64) {
			return timed(filepath.Dir(script), env, `"loss": ([\d.]+)`, "python3", script, "--text", text, "--threads", "1",
				"--seed", strconv.Itoa(seed))
		}
	}
	type kind struct {
		name  string
		train training
	}
	kinds := []kind{
		{"speedrun", ours("speedrun")},
		{"its twin in PyTorch, tuned, one thread", twin(tuned)},
		{"its twin in PyTorch, as installed, one thread", twin(nil)},
		{"nano-char", ours("nano-char")},
	}
	if dir := os.Getenv("NANOGPT"); dir != "" {
		own := func(env []string) training {
			return func(int) (float64, float64) {
				return timed(dir, env, `step 2000: .*val loss ([\d.]+)`, "python3", "train.py",
					"config/train_shakespeare_char.py", "--device=cpu", "--compile=False", "--eval_iters=20",
					"--log_interval=100", "--block_size=64", "--batch_size=12", "--n_layer=4", "--n_head=4", "--n_embd=128",
					"--max_iters=2000", "--lr_decay_iters=2000", "--dropout=0.0")
			}
		}
		kinds = append(kinds, kind{"nanoGPT's own program, tuned", own(tuned)},
			kind{"nanoGPT's own program, as installed", own(nil)})
	}
	all := inTurns(twinSeeds, len(kinds), func(i, seed int) (seconds, loss float64) { return kinds[i].train(seed) })
	fmt.Printf("\nTrainings here and in PyTorch in turns, seeds 1 to %d, nanoGPT's with its own: seconds of the process "+
		"until the loss of the whole validation text is known, nanoGPT's that of 20 random batches\n\n"+
		"| | nats | seconds |\n|---|---:|---:|\n", twinSeeds)
	for i, kind := range kinds {
		all.summary(i, kind.name)
	}
}

// timed runs a program in a folder. It returns the seconds of the process, and the number of the last match in what it
// prints.
func timed(dir string, env []string, loss string, program string, args ...string) (seconds, value float64) {
	var printed bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &printed, os.Stderr
	began := time.Now()
	check(cmd.Run())
	seconds = time.Since(began).Seconds()
	all := regexp.MustCompile(loss).FindAllSubmatch(printed.Bytes(), -1)
	if len(all) == 0 {
		check(fmt.Errorf("%s: got no %s in its output", program, loss))
	}
	value, err := strconv.ParseFloat(string(all[len(all)-1][1]), 64)
	check(err)
	return seconds, value
}
