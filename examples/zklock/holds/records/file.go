package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// A File is where a [Recorder] writes. When a line would make it longer than its limit, it is renamed to NAME.1, in the
// place of an older NAME.1, and NAME begins again: the two are at most twice the limit long. If it cannot be renamed it
// grows, and that is tried again each time it has grown by the limit: Close has the error. One process writes to a
// name. A File is safe for concurrent use.
type File struct {
	name string
	most int64

	mu     sync.Mutex
	file   *os.File // nil after a failure to open it again
	size   int64
	rotate int64 // at this size
	torn   bool  // the last line was not written to its end
	failed error // to rename it, the last time
}

// OpenFile opens a file for appending, and makes it if it is missing. Only its owner may read it. A line that a killed
// process has left without an end stays, and the next one begins behind it. most is the limit in bytes.
func OpenFile(name string, most int64) (*File, error) {
	if most <= 0 {
		return nil, fmt.Errorf("records: the limit of %s must be positive, is %d", name, most)
	}
	f := &File{name: name, most: most, rotate: most}
	err := f.open()
	return f, err
}

// open opens the file at its end. mu is held, or the file is new.
func (f *File) open() error {
	file, err := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		file.Close()
		return err
	}
	last := []byte{'\n'}
	if size > 0 {
		if _, err := file.ReadAt(last, size-1); err != nil {
			file.Close()
			return err
		}
	}
	f.file, f.size, f.torn = file, size, last[0] != '\n'
	return nil
}

// Write appends one line, in one call of the system. It blocks as long as that does. After an error the line, or a part
// of it, is lost; the next one may succeed.
func (f *File) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.makeRoom(int64(len(text))); err != nil {
		return 0, err
	}
	before := 0
	if f.torn {
		text, before = append([]byte{'\n'}, text...), 1
	}
	n, err := f.file.Write(text)
	f.size += int64(n)
	if n > 0 {
		f.torn = text[n-1] != '\n'
	}
	return max(0, n-before), err
}

// makeRoom begins another file if the line does not fit. mu is held.
func (f *File) makeRoom(length int64) error {
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	if f.size == 0 || f.size+length <= f.rotate {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	f.failed = os.Rename(f.name, f.name+".1")
	err = errors.Join(err, f.open())
	f.rotate = f.most
	if f.failed != nil {
		f.rotate += f.size
	}
	return err
}

// Close closes the file. A later Write opens it again. Its error also says that the file could not be renamed the last
// time.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.failed
	f.failed = nil
	if f.file != nil {
		err = errors.Join(err, f.file.Close())
		f.file = nil
	}
	return err
}
