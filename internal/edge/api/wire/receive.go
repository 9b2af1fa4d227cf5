package wire

import (
	"net/http"
	"time"
)

// Limits of one request. The whole body is read before the database is used and the answer is written after, so that a slow client
// holds nothing but its connection.
const (
	BodyMax       = 8 << 20
	HandleTimeout = 60 * time.Second
	SendTimeout   = 60 * time.Second
)

// Received is the body of a request.
type Received struct {
	Body []byte // as it was sent; of a form, a digest of its contents
	form *form
}

// Close deletes the files of a form.
func (r Received) Close() {
	if r.form != nil {
		r.form.close()
	}
}

// Rewind lets the files of a form be read from the beginning again.
func (r Received) Rewind() error {
	if r.form == nil {
		return nil
	}
	return r.form.rewind()
}

// Receive reads the body of a request, which must begin to arrive within the timeout.
func (d *Decoder) Receive(w http.ResponseWriter, req *http.Request, timeout time.Duration) (got Received, err error) {
	if d.TakesForm() {
		if got.form, err = readForm(w, req, d.body, timeout); err == nil {
			got.Body = got.form.digest()
		}
		return got, err
	}
	got.Body, err = readBody(w, req)
	return got, err
}

// TakesForm reports whether the body is a form with files.
func (d *Decoder) TakesForm() bool { return d.body != nil && d.body.files != nil }
