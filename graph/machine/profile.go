package machine

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"attention/internal/parallel"
)

// OpTime is the time that all ops of one kind took.
type OpTime struct {
	Name  string        // of the op, without its settings, or the name passed to Timed
	Calls int           // number of runs
	Time  time.Duration // of all calls
	// Idle is the time, summed over all cores, in which a core did not compute while a call ran: during an op that one
	// core computes, or at the end of an op with parts of different lengths.
	Idle time.Duration
}

// StartProfile begins to record the time of every op that a machine of this process runs, and of the work that Timed
// names. stop returns the records, the longest time first. Another StartProfile ends the previous profile. Reading the
// clock costs about 100 ns per op. Idle is correct only if one machine runs at a time.
func StartProfile() (stop func() []OpTime) {
	r := &recorder{times: map[string]*OpTime{}}
	parallel.CountBusy(true)
	recording.Store(r)
	return sync.OnceValue(func() []OpTime {
		if recording.CompareAndSwap(r, nil) {
			parallel.CountBusy(false)
		}
		return r.sorted()
	})
}

// Timed begins to record, under a name, work that a program does outside its graphs; end ends the record. Without a
// profile it does nothing.
func Timed(name string) (end func()) {
	r := recording.Load()
	if r == nil {
		return func() {}
	}
	at := markNow()
	return func() { r.add(name, at) }
}

// recording is the recorder of StartProfile, or nil.
var recording atomic.Pointer[recorder]

type recorder struct {
	mutex sync.Mutex
	times map[string]*OpTime
}

// mark is the time at which an op begins, with the value of parallel.Busy at that time.
type mark struct {
	begin        time.Time
	callers, all time.Duration
}

func markNow() mark {
	callers, all := parallel.Busy()
	return mark{time.Now(), callers, all}
}

// add records an op that ends now. Outside of Parallel one core computes.
func (r *recorder) add(name string, at mark) {
	took, end := time.Since(at.begin), markNow()
	busy := took - (end.callers - at.callers) + (end.all - at.all)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	t := r.times[name]
	if t == nil {
		t = &OpTime{Name: name}
		r.times[name] = t
	}
	t.Calls++
	t.Time += took
	t.Idle += max(0, time.Duration(runtime.GOMAXPROCS(0))*took-busy)
}

func (r *recorder) sorted() (all []OpTime) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, t := range r.times {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b OpTime) int { return cmp.Or(-cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name)) })
	return all
}

// computes reports whether a step computes something: an input does not, nor does a view of an input's memory.
func (s *step) computes() bool {
	if s.op == nil || s.view {
		return false
	}
	j, _ := viewOf(s)
	return j < 0
}

// name returns the kind of a step's op: the part of its name before the settings.
func (s *step) name() string {
	name := s.op.String()
	if i := strings.IndexAny(name, "({["); i > 0 {
		name = name[:i]
	}
	return strings.TrimSpace(name)
}
