package record

import (
	"fmt"
	"math"
	"time"

	"attention/internal/folder"
	"attention/internal/lines"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train/loop"

	"gorgonia.org/tensor"
)

// observer records the parameters of one loop.
type observer struct {
	loop   *loop.Loop
	every  int // steps between two evaluations of the loop; 0 for none
	dir    *folder.Dir
	config Config
	lines  *lines.Appender // nil until a run begins
	lost   bool            // the lines up to the last record are missing
	params []*param
	norms  *tensor.Dense // (P), float64: norms of the trained parameters' gradients in the last step; NaN before the first
	parts  []keptTensor  // parts of Config.Matrices, then of the probe
	probe  Probe
	kept   kept
	last   int  // steps before the last record; -1 before the first
	begun  bool // whether the files are open at the last record

	computed *layers.Func    // values of the probe's nodes and then its tensors, by name; nil without a probe
	values   []*tensor.Dense // of the last record

	unwritten bool // whether kept has tensors that the file lacks
	failed    bool // whether writing the file has failed
	written   time.Time
	cost      time.Duration // time of writing the file
}

func newObserver(l *loop.Loop, path string, c Config) (*observer, error) {
	for _, m := range c.Matrices {
		if m.Rows < 0 || m.Columns < 0 {
			return nil, fmt.Errorf("matrix %.100q: got %d rows and %d columns, want at least 0", m.Param,
				m.Rows, m.Columns)
		}
	}
	s := l.State()
	o := &observer{loop: l, every: s.Config.EvalEvery, config: c, last: -1}
	o.addParams(s.Params)
	if err := o.makeParts(s.Params); err != nil {
		return nil, err
	}
	if c.Probe != nil {
		if err := o.makeProbe(s.Params); err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
	}
	numbers := 0
	for _, t := range o.parts {
		numbers += t.shape.TotalSize()
	}
	if numbers > mostKept {
		return nil, fmt.Errorf("tensors: got %d numbers of a record, want at most %d", numbers, mostKept)
	}
	var err error
	o.dir, err = openFolder(path)
	return o, err
}

// openFolder opens the folder of the files, and creates it if it does not exist.
func openFolder(path string) (*folder.Dir, error) {
	dir, err := folder.Make(path)
	if err != nil {
		return nil, err
	}
	if err := oneline.Join(dir.Check(LinesFile), dir.Check(TensorsFile)); err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	if err := dir.RemoveIncomplete(func(name string) bool { return name == TensorsFile }); err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	return dir, nil
}

// addParams adds the first parameters, each with the index of its gradient in the loop.
func (o *observer) addParams(p *layers.Params) {
	gradient, n := map[string]int{}, 0
	for name := range o.loop.GradNorms() {
		gradient[name] = n
		n++
	}
	o.norms = tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(n))
	o.forgetNorms()
	for name, value := range p.Own() {
		if len(o.params) == mostParams {
			break
		}
		at, trained := gradient[name]
		o.params = append(o.params, newParam(name, value, at, trained))
	}
}

func (o *observer) forgetNorms() {
	for i := range o.norms.Float64s() {
		o.norms.Float64s()[i] = math.NaN()
	}
}

// takeNorms copies the norms of the last step's gradients. After a restore there are none yet, and the norms in the
// checkpoint stay.
func (o *observer) takeNorms() {
	i := 0
	for _, norm := range o.loop.GradNorms() {
		if math.IsNaN(norm) {
			return
		}
		o.norms.Float64s()[i] = norm
		i++
	}
}

// Begin opens the files at the loop's step.
func (o *observer) Begin() error {
	if err := o.begin(); err != nil {
		return fmt.Errorf("train: record: %w", err)
	}
	return nil
}

// Observe records the loop's parameters if a record is due.
func (o *observer) Observe(last bool) error {
	o.takeNorms()
	if !o.due(last) {
		return nil
	}
	if err := o.record(); err != nil {
		return fmt.Errorf("train: record after %d steps: %w", o.loop.Steps(), err)
	}
	return nil
}

// due reports whether a record is due, now that the evaluation is done.
func (o *observer) due(last bool) bool {
	n := o.loop.Steps()
	stride := sizeStride(o.lines.Size())
	switch i, ok := o.evaluationIndex(n); {
	case o.last == n:
		return o.lost && last // the file has at least one
	case o.last < 0 || last:
		return o.lines.Size() <= mostLines-mostLine
	default:
		return stride > 0 && ok && i%max(recordStride(i), stride) == 0
	}
}

// evaluationIndex returns the number of evaluations that are due before one after n steps,
// counted with one before the first step, and reports whether one is due then.
func (o *observer) evaluationIndex(n int) (i int, ok bool) {
	if n == 0 {
		return 0, true
	}
	return n / max(o.every, 1), o.every > 0 && n%o.every == 0
}

// recordStride returns 1 for the first evaluations of a run, 2 for as many again, and so on.
func recordStride(i int) int {
	stride := 1
	for i/stride >= allRecords {
		stride *= 2
	}
	return stride
}

// sizeStride returns how many evaluations share a record when the lines have the given size in bytes: 1 in the first
// half of the limit, 2 in a third of the remaining half, 4 in a quarter of the remainder, and so on, and 0 if only the
// last record still fits. It depends on the size only, so a resumed run records the same evaluations.
func sizeStride(size int64) int {
	const room = mostLines - mostLine // one line is reserved for the last record
	left := room - mostLine - size
	if left <= 0 {
		return 0
	}
	return 1 << min(size/(room-size), 30)
}

// record records the loop's parameters with their values.
func (o *observer) record() error {
	line := Record{Step: o.loop.Steps()}
	for _, p := range o.params {
		line.Params = append(line.Params, p.move(o.norms.Float64s()))
	}
	var err error
	if line.Numbers, err = o.runProbe(); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if err := o.lines.Add(line); err != nil {
		return err
	}
	o.kept.add(line.Step, o.parts)
	o.kept.thin(o.evaluationIndex)
	o.last, o.lost, o.unwritten = line.Step, false, true
	if o.config.OnRecord != nil {
		o.config.OnRecord(line)
	}
	if time.Since(o.written) < writeShare*o.cost {
		return nil // from now on a kill costs only the tensors since the last checkpoint
	}
	return o.write()
}

// writeShare is the least time between two writings of watch.safetensors within a run, as a multiple of the time of
// one.
const writeShare = 200
