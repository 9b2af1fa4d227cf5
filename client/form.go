package client

import (
	"io"
	"maps"
	"mime/multipart"
	"net/url"
	"slices"
)

// Form is a body with a file, which is streamed.
type Form struct {
	File     io.ReadSeeker
	FileName string
	Fields   url.Values
}

// open starts to write the form from the beginning of its file. Closing the returned reader ends the writing.
func (f *Form) open() (body io.ReadCloser, contentType string, err error) {
	if _, err := f.File.Seek(0, io.SeekStart); err != nil {
		return nil, "", err
	}
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() { w.CloseWithError(f.write(form)) }()
	return r, form.FormDataContentType(), nil
}

func (f *Form) write(form *multipart.Writer) error {
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		for _, value := range f.Fields[name] {
			if err := form.WriteField(name, value); err != nil {
				return err
			}
		}
	}
	part, err := form.CreateFormFile("file", f.FileName)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, f.File); err != nil {
		return err
	}
	return form.Close()
}
