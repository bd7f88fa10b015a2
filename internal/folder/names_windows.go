package folder

import (
	"os"

	"golang.org/x/sys/windows"
)

// countNames returns the number of names that an open file has.
func countNames(f *os.File) (int, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return int(info.NumberOfLinks), err
}
