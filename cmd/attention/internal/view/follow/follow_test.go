package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train/checkpoint"
	"attention/train/metrics"
	"attention/train/record"

	"github.com/stretchr/testify/require"
)

// runFolder is a copy of the folder of a finished run of 40 steps and 5 validations.
type runFolder struct {
	t     *testing.T
	path  string
	lines [][]byte // of metrics.jsonl
}

func newFolder(t *testing.T) *runFolder {
	f := &runFolder{t: t, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, os.CopyFS(f.path, os.DirFS("../testdata/run")))
	f.lines = bytes.SplitAfter(f.read(metrics.FileName), []byte("\n"))
	return f
}

func (f *runFolder) read(name string) []byte {
	text, err := os.ReadFile(filepath.Join(f.path, name))
	require.NoError(f.t, err)
	return text
}

func (f *runFolder) write(name string, text []byte) {
	require.NoError(f.t, os.WriteFile(filepath.Join(f.path, name), text, 0o644))
}

// metrics writes the first lines.
func (f *runFolder) metrics(n int) { f.write(metrics.FileName, bytes.Join(f.lines[:n], nil)) }

// report changes the report.
func (f *runFolder) report(change func(r *session.Report)) {
	var r session.Report
	require.NoError(f.t, json.Unmarshal(f.read(session.ReportFile), &r))
	change(&r)
	text, err := json.Marshal(r)
	require.NoError(f.t, err)
	f.write(session.ReportFile, text)
}

// begun is the report of a session that is training or was killed.
func begun(r *session.Report) {
	r.Sessions[0] = session.SessionReport{State: "unfinished"}
	r.Losses = session.Losses{}
}

// updated reads what is new and returns the state.
func updated(t *testing.T, r *Run) State {
	require.NoError(t, r.Update())
	return r.State()
}

// numbersOf returns the numbers of the steps of a state.
func numbersOf(s State) (numbers []int) {
	for _, step := range s.Steps {
		numbers = append(numbers, step.Step)
	}
	return numbers
}

// evaluatedAt returns the steps at which a run was validated.
func evaluatedAt(s State) (numbers []int) {
	for _, e := range s.Evaluations {
		numbers = append(numbers, e.Step)
	}
	return numbers
}

// A line is read only when it is complete, and the version counts only changes.
func TestARunGrows(t *testing.T) {
	f := newFolder(t)
	f.report(begun)
	require.NoError(t, os.Remove(filepath.Join(f.path, metrics.FileName)))
	r, err := Open(f.path)
	require.NoError(t, err, "before the first step")
	require.Empty(t, r.State().Steps)
	f.metrics(3)
	s := updated(t, r)
	require.Equal(t, []int{1, 2, 3}, numbersOf(s))
	require.Len(t, s.Steps, 3)
	require.Equal(t, 40, s.Planned)
	require.NotNil(t, s.Losses.Bigram, "a run that trains has counted them already")
	require.NotNil(t, s.Losses.Unigram)
	require.Equal(t, s.Version, updated(t, r).Version, "nothing is new")

	f.write(metrics.FileName, append(bytes.Join(f.lines[:4], nil), f.lines[4][:20]...))
	require.Equal(t, []int{1, 2, 3, 4}, numbersOf(updated(t, r)), "the fifth line is cut")
	f.metrics(10)
	grown := updated(t, r)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, numbersOf(grown))
	require.Equal(t, []int{8}, evaluatedAt(grown))
	require.Greater(t, grown.Version, s.Version)
	f.metrics(len(f.lines))
	whole := updated(t, r)
	require.Len(t, whole.Steps, 40)
	require.Equal(t, []int{8, 16, 24, 32, 40}, evaluatedAt(whole))
	other, err := Open(f.path)
	require.NoError(t, err)
	require.Equal(t, whole.Steps, other.State().Steps, "read line by line, or at once")
	require.Equal(t, whole.Evaluations, other.State().Evaluations)
}

// The steps before a wrong line change the version once. When the line is corrected, the steps after it change the
// version again.
func TestStepsBeforeAWrongLine(t *testing.T) {
	f := newFolder(t)
	f.metrics(3)
	r, err := Open(f.path)
	require.NoError(t, err)
	before := r.Version()
	whole := bytes.Join(f.lines[:8], nil)
	f.write(metrics.FileName, append(bytes.Join(f.lines[:5], nil), "no JSON\n"...))
	for range 2 {
		require.ErrorContains(t, r.Update(), `got "no JSON\n", want a JSON object of numbers`)
		require.Equal(t, []int{1, 2, 3, 4, 5}, numbersOf(r.State()))
		require.Equal(t, before+1, r.Version())
	}
	f.write(metrics.FileName, whole)
	s := updated(t, r)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8}, numbersOf(s))
	require.Equal(t, before+2, s.Version)
	require.Equal(t, before+2, updated(t, r).Version, "nothing is new")
}

// A run that is resumed from an earlier checkpoint repeats steps. The reader notices this even if the run has more
// lines than before by the next look. It also notices another number of planned steps.
func TestARunResumes(t *testing.T) {
	f := newFolder(t)
	f.metrics(20)
	r, err := Open(f.path)
	require.NoError(t, err)
	require.Equal(t, 18, r.lastStep())
	f.metrics(12)
	require.Equal(t, 11, updated(t, r).Steps[10].Step)
	require.Len(t, r.State().Steps, 11)

	again := bytes.ReplaceAll(bytes.Join(f.lines, nil), []byte(`"loss":`), []byte(`"loss":1`))
	f.write(metrics.FileName, again)
	f.report(func(r *session.Report) { r.Sessions = append(r.Sessions, r.Sessions[0]) })
	config := bytes.Replace(f.read(settings.ConfigFile), []byte(`"steps": 40`), []byte(`"steps": 60`), 1)
	f.write(settings.ConfigFile, config)
	s := updated(t, r)
	require.Len(t, s.Steps, 40)
	for _, step := range s.Steps {
		require.Greater(t, step.Loss, 11.0, "of the resumed run")
	}
	require.Equal(t, 60, s.Planned)
	require.Equal(t, []int{8, 16, 24, 32, 40}, evaluatedAt(s))
	require.Len(t, s.Samples, 2)
}

// After the folder is removed, the error gives this reason until the folder has a run again, which is another one.
func TestAFolderIsReplaced(t *testing.T) {
	f := newFolder(t)
	r, err := Open(f.path)
	require.NoError(t, err)
	before := r.Version()
	require.NoError(t, os.RemoveAll(f.path))
	for range 2 {
		require.EqualError(t, r.Update(), f.path+": got no config.json, want the folder of a run")
	}
	require.NoError(t, os.CopyFS(f.path, os.DirFS("../testdata/run")))
	f.write(settings.ConfigFile, bytes.Replace(f.read(settings.ConfigFile), []byte(`"steps": 40`), []byte(`"steps": 50`), 1))
	f.metrics(5)
	s := updated(t, r)
	require.Len(t, s.Steps, 5)
	require.Equal(t, 50, s.Planned)
	require.Greater(t, s.Version, before)
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		want, wrong string
		locked      bool // by a process that trains
		change      func(r *session.Report)
	}{
		{want: session.Finished, change: func(*session.Report) {}},
		{want: session.Stopped, change: func(r *session.Report) { r.Sessions[0].State = session.Stopped }},
		{want: session.Failed, wrong: "step 7: loss: got NaN", change: func(r *session.Report) {
			r.Sessions[0].State, r.Sessions[0].Error = session.Failed, "step 7: loss: got NaN"
		}},
		{want: session.Running, locked: true, change: begun},
		{want: "unfinished", change: begun}, // killed
		{want: session.Running, locked: true, change: func(r *session.Report) { r.Sessions = nil }},
	} {
		f := newFolder(t)
		f.report(c.change)
		if c.locked {
			open, err := session.OpenFolder(f.path, checkpoint.Config{Keep: 1})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, open.Close()) })
		}
		r, err := Open(f.path)
		require.NoError(t, err)
		require.Equal(t, c.want, r.State().State)
		require.Equal(t, c.wrong, r.State().Error)
	}
}

// The state changes while the run is followed. The time left is computed from the speed since the first look.
func TestTimeLeft(t *testing.T) {
	now, real := time.Now(), program.Now
	program.Now = func() time.Time { return now }
	t.Cleanup(func() { program.Now = real })
	f := newFolder(t)
	f.report(begun)
	f.metrics(4)
	open, err := session.OpenFolder(f.path, checkpoint.Config{Keep: 1})
	require.NoError(t, err)
	r, err := Open(f.path)
	require.NoError(t, err)
	require.Zero(t, r.State().SecondsLeft, "nothing is known of the speed")
	now = now.Add(30 * time.Second)
	f.metrics(17) // 16 steps: 12 in half a minute
	require.InDelta(t, 24*30/12, updated(t, r).SecondsLeft, 1e-9)
	f.metrics(3) // resumed
	require.Zero(t, updated(t, r).SecondsLeft)
	now = now.Add(10 * time.Second)
	f.metrics(4)
	require.InDelta(t, 360, updated(t, r).SecondsLeft, 1e-9)
	before := r.Version()
	require.NoError(t, open.Close())
	f.report(func(r *session.Report) { r.Sessions[0].State = session.Stopped })
	s := updated(t, r)
	require.Equal(t, session.Stopped, s.State)
	require.Zero(t, s.SecondsLeft)
	require.Greater(t, s.Version, before)
}

// Concurrent callers get the same value, which is read once. A caller whose context ends does not wait.
func TestRecordingIsShared(t *testing.T) {
	f := newFolder(t)
	r, err := Open(f.path)
	require.NoError(t, err)
	r.recorded.turn <- struct{}{} // somebody reads
	left, leave := context.WithCancel(t.Context())
	got := make(chan *record.Recording, 8)
	for range cap(got) {
		go func() {
			w, err := r.Recording(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- w
		}()
	}
	leave()
	_, err = r.Recording(left)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, got)
	<-r.recorded.turn
	first := <-got
	for range cap(got) - 1 {
		require.Same(t, first, <-got)
	}
	_, err = r.Recording(left)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRecording(t *testing.T) {
	f := newFolder(t)
	r, err := Open(f.path)
	require.NoError(t, err)
	w, err := r.Recording(t.Context())
	require.NoError(t, err)
	require.Len(t, w.Records, 6)
	f.write(record.LinesFile, append(f.read(record.LinesFile), `{"step": 41, "par`...))
	w, err = r.Recording(t.Context())
	require.NoError(t, err, "a line that is being written")
	require.Len(t, w.Records, 6)
	require.NoError(t, os.Remove(filepath.Join(f.path, record.TensorsFile)))
	w, err = r.Recording(t.Context())
	require.NoError(t, err)
	require.Empty(t, w.Steps)
	require.NoError(t, os.Remove(filepath.Join(f.path, record.LinesFile)))
	_, err = r.Recording(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist, "a run that recorded none")
}

// Of a long file only new lines are read, and only some steps and validations are kept.
func TestLongRuns(t *testing.T) {
	const steps = 6*most + 1 // more than the limit, even if only every fourth is kept
	f := newFolder(t)
	var text strings.Builder
	for i := range steps {
		fmt.Fprintf(&text, `{"step":%d,"loss":2,"learning_rate":0.1,"grad_norm":1,"tokens_per_second":5}`+"\n", i+1)
		fmt.Fprintf(&text, `{"step":%d,"validation_loss":3}`+"\n", i+1)
	}
	f.write(metrics.FileName, []byte(text.String()))
	r, err := Open(f.path)
	require.NoError(t, err)
	s := r.State()
	require.InDelta(t, most*3/4, len(s.Steps), most/4+1)
	require.InDelta(t, most*3/4, len(s.Evaluations), most/4+1)
	require.Equal(t, 1, s.Steps[0].Step)
	require.Equal(t, steps, s.Steps[len(s.Steps)-1].Step)

	path := filepath.Join(f.path, metrics.FileName)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteAt([]byte("no JSON"), 0) // which is never read again
	require.NoError(t, err)
	_, err = file.WriteAt(fmt.Appendf(nil, `{"step":%d,"loss":1}`+"\n", steps+1), int64(text.Len()))
	require.NoError(t, err)
	s = updated(t, r)
	require.Equal(t, 1.0, s.Steps[len(s.Steps)-1].Loss)
	_, err = Open(f.path)
	require.ErrorContains(t, err, path+": line 1: got \"no JSON")
}

// Several viewers follow one run.
func TestTogether(t *testing.T) {
	f := newFolder(t)
	r, err := Open(f.path)
	require.NoError(t, err)
	var viewers sync.WaitGroup
	for range 4 {
		viewers.Go(func() {
			for i := range 20 {
				if i%4 == 0 {
					f.metrics(len(f.lines))
				}
				if err := r.Update(); err != nil { // a line that another process is still writing
					require.ErrorContains(t, err, "want a JSON object")
				}
				r.State()
			}
		})
	}
	viewers.Wait()
	require.Len(t, updated(t, r).Steps, 40)
}

// The state has the command that made the run, because the page's advice depends on it.
func TestTheCommandOfARun(t *testing.T) {
	f := newFolder(t)
	command := func() string {
		r, err := Open(f.path)
		require.NoError(t, err)
		return r.State().Command
	}
	require.Equal(t, "train", command())
	config := bytes.Replace(f.read(settings.ConfigFile), []byte("{"), []byte(`{"tuning": {"base": {"name": "first"}},`), 1)
	f.write(settings.ConfigFile, config)
	require.Equal(t, "finetune", command())
}
