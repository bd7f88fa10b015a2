package pretrained

// NameInFolder returns the name of an encoder's parameter in a folder of a family.
func NameInFolder(modelType, name string) string {
	f, err := encoderFamilyOf(modelType)
	if err != nil {
		panic(err)
	}
	return f.weights.place(name).name
}
