package train_test

import (
	"encoding/json"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"attention/train"
)

// A config goes into a checkpoint as JSON and comes back as it was.
func ExampleSolverConfig() {
	c := train.SolverConfig{Name: train.AdamW, Beta2: 0.95, WeightDecay: 0.1, Decay: train.DecayMatrices}
	data, err := json.Marshal(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	var back train.SolverConfig
	if err := json.Unmarshal(data, &back); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	fmt.Println(back)
	// Output:
	// {"name":"adamw","beta2":0.95,"weight_decay":0.1,"decay":"matrices"}
	// adamw(beta1=0.9 beta2=0.95 eps=1e-08 weight_decay=0.1 of matrices)
}

// One step of plain gradient descent: the tensor itself changes.
func ExampleSolverConfig_New() {
	weight := tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2}))
	params := []train.Param{{Name: "weight", Value: weight}}
	solver, err := train.SolverConfig{Name: train.SGD}.New(params)
	if err != nil {
		fmt.Println(err)
		return
	}
	params[0].Grad = tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{10, -10}))
	if err := solver.Step(0.1, params); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(weight)
	// Output: [0  3]
}

// A learning rate that rises to 1e-3 in 100 steps and falls along a cosine to 1e-4 at step 2000.
func ExampleCosineLR() {
	c := train.StepConfig{Schedule: train.ScheduleConfig{Schedule: train.CosineLR{
		Peak: 1e-3, Floor: 1e-4, WarmupSteps: 100, Steps: 2000}}}
	check(c.Validate())
	for _, step := range []int{0, 100, 1050, 2000, 5000} {
		fmt.Printf("step %d: %.2e\n", step, c.Schedule.At(step))
	}
	// Output:
	// step 0: 9.90e-06
	// step 100: 1.00e-03
	// step 1050: 5.50e-04
	// step 2000: 1.00e-04
	// step 5000: 1.00e-04
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
