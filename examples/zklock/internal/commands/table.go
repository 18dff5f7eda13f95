package commands

import (
	"io"
	"os"
)

// columns is how wide a table may be: as wide as the terminal. It is 0, for no limit, if out is a pipe or a file.
func columns(out io.Writer) int {
	file, isFile := out.(*os.File)
	if !isFile {
		return 0
	}
	return windowColumns(file)
}

// room is how much of a table's width is left for the last column; 0 for no limit.
func room(width, used int) int {
	if width == 0 {
		return 0
	}
	return max(width-used, 12)
}
