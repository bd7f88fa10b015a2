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

// OpTime is the time that a kind of ops took.
type OpTime struct {
	Name  string        // of the op, without its settings, or what Timed was given
	Calls int           // how often one ran
	Time  time.Duration // of all calls
	// Idle is the time of all cores together in which they did not compute while a call ran: an op that one core
	// computes, or the end of one whose parts are not equally long.
	Idle time.Duration
}

// StartProfile begins to record the time of every op that a machine of this process runs, and of what Timed names. stop
// returns what was recorded, the longest first. Another StartProfile ends the one before. Reading the clock costs some
// 100 ns an op. Idle is right where one machine runs at a time.
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

// Timed begins to record, under a name, what a program does beside its graphs; end ends it. Without a profile it does
// nothing.
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

// mark is when an op begins, with what parallel.Busy returned then.
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

// computes reports whether a step computes something: an input does not, nor what lies in an input's memory.
func (s *step) computes() bool {
	if s.op == nil || s.view {
		return false
	}
	j, _ := viewOf(s)
	return j < 0
}

// name returns the kind of a step's op: what its name says before its settings.
func (s *step) name() string {
	name := s.op.String()
	if i := strings.IndexAny(name, "({["); i > 0 {
		name = name[:i]
	}
	return strings.TrimSpace(name)
}
