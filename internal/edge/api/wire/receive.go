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
	Body   []byte // as it was sent; of a form, a digest of its contents
	form   *form
	memory *Reservation
}

// Close deletes the files of a form and returns the memory of the request.
func (r Received) Close() {
	r.memory.Close()
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

// Receive reads the body of a request, which must begin to arrive within the timeout. The memory that the body takes, and what is built
// from it, comes from the reservation, which is returned when the body is closed.
func (d *Decoder) Receive(w http.ResponseWriter, req *http.Request, timeout time.Duration, memory *Reservation) (got Received, err error) {
	got.memory = memory
	if d.TakesForm() {
		if got.form, err = readForm(w, req, d.body, timeout, memory); err == nil {
			got.Body = got.form.digest()
		}
	} else {
		got.Body, err = readBody(w, req, memory)
	}
	if err != nil {
		memory.Close()
	}
	return got, err
}

// TakesForm reports whether the body is a form with files.
func (d *Decoder) TakesForm() bool { return d.body != nil && d.body.files != nil }
