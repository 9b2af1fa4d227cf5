package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bursarhq/bursar/internal/base/newfile"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// standard is the argument that stands for standard input, or standard output.
const standard = "-"

// input is a file that can be read more than once.
type input struct {
	*os.File
	temporary bool
}

func (in *input) close() {
	in.File.Close()
	if in.temporary {
		_ = os.Remove(in.File.Name())
	}
}

// openInput opens a file, positioned at its start. Standard input and pipes, which can be read only once, are copied to a
// temporary file first: an import reads its input several times, and must not hold a database transaction while somebody types.
func openInput(ctx context.Context, file string) (*input, error) {
	in := os.Stdin
	if file != standard {
		var err error
		if in, err = os.Open(file); err != nil {
			return nil, err
		}
	}
	info, err := in.Stat()
	if err == nil && info.Mode().IsRegular() && file != standard {
		return &input{in, false}, nil
	}
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; name a file", file)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return copyInput(ctx, in)
}

// requireText returns an error if the file is not text, with what to do instead. It leaves the file at its start.
func (in *input) requireText(name string) error {
	head := make([]byte, intake.BinaryHead)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if problem := intake.DescribeBinary(head[:n]); problem != "" {
		return fmt.Errorf("%s %s", name, problem)
	}
	_, err = in.Seek(0, io.SeekStart)
	return err
}

// copyInput copies what can be read only once to a temporary file and rewinds it.
func copyInput(ctx context.Context, in io.Reader) (*input, error) {
	kept, err := os.CreateTemp("", "bursar-import-")
	if err != nil {
		return nil, err
	}
	// Where the system allows it, the file is removed now and disappears with this process, however that ends.
	out := &input{kept, os.Remove(kept.Name()) != nil}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(kept, in)
		copied <- err
	}()
	select { // a read from a terminal or a pipe cannot be interrupted, but this function can return
	case err = <-copied:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		_, err = kept.Seek(0, io.SeekStart)
	}
	if err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

// writeOutput writes a new file, or standard output without a name or with -. It leaves no file that it could not finish.
func (s *settings) writeOutput(file string, write func(io.Writer) error) error {
	if file == "" || file == standard {
		return write(s.out)
	}
	err := newfile.Write(file, func(f *os.File) error { return write(f) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; choose a new file", file)
	}
	return err
}
