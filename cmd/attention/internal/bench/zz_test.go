package bench
import ("testing";"time";"fmt";"os";"slices")
func TestZZ(t *testing.T) {
	for _, w := range standardWorks() {
		if fmt.Sprint(w.Mode, w.Tokens) != os.Getenv("ZZ") { continue }
		var run func() error
		var err error
		if w.Mode == gptStep { run, err = newGPTStep(w) } else { run, err = prepare(t.Context(), w) }
		if err != nil { t.Fatal(err) }
		var took []float64
		for st := time.Now(); time.Since(st) < 8*time.Second; {
			s := time.Now(); run(); took = append(took, time.Since(s).Seconds())
		}
		slices.Sort(took)
		p := measureKernels(w).Peak
		fmt.Println(w.name(), took[0]*1e3, took[len(took)/2]*1e3, float64(w.flop())/took[len(took)/2]/p,  float64(w.flop())/took[0]/p)
		return
	}
}
