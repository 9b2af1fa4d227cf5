package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// connectPage is the page on which the setup of a connection ends.
type connectPage struct {
	Provider string // for people
	Back     string // where the setup was begun; empty if that is not known
	Again    string // where the person can go on, or try again; empty if nowhere
	Done     bool
	Reads    bool // transactions are read from the account
}

// finishConnecting ends the setup of a connection, to which the page of a provider has sent the browser. Nobody has to be signed in: the
// state in the address, which only this browser and the provider know, names the setup.
func (s *Site) finishConnecting(v *visit) error {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil || v.r.Method == http.MethodHead { // a look at the headers must not use the setup up
		return v.noSetup()
	}
	done, err := s.app.Connections.FinishSetup(v.r.Context(), query.Get("state"), query)
	page := connectPage{Provider: done.Title, Back: done.ReturnTo}
	if page.Back == "" {
		page.Back = v.askedFrom()
	}
	switch {
	case errors.Is(err, connection.ErrNoSetup):
		return v.noSetup()
	case errors.Is(err, connection.ErrUnfinished):
		page.Again = done.SetupURL
		return v.show(http.StatusConflict, "unfinished", shown{Title: "Not finished yet", Data: page})
	case fault.KindOf(err) == fault.Unavailable || errors.Is(err, context.DeadlineExceeded):
		return v.tryConnectingAgain(err, page)
	case err != nil:
		return err
	case done.Err != nil:
		p := shown{Title: "Not connected", Data: page}
		p.explain(done.Err)
		return v.show(statusOf(fault.KindOf(done.Err)), "not-connected", p)
	case done.ReturnTo != "":
		return v.redirect(done.ReturnTo)
	case page.Back != "":
		if left, err := v.backToRequest("connected"); left {
			return err
		}
		page.Back = ""
	}
	page.Done, page.Reads = true, done.Reads
	return v.show(http.StatusOK, "connected", shown{Title: done.Title + " is connected", Data: page})
}

// noSetup is the page for a state that no setup has. It says the same whether there ever was one.
func (v *visit) noSetup() error {
	return v.show(http.StatusNotFound, "no-setup", shown{Title: "There is nothing to finish"})
}

// tryConnectingAgain is the page for a provider that does not answer. The setup can still be finished with the same address.
func (v *visit) tryConnectingAgain(err error, page connectPage) error {
	page.Again = v.r.URL.RequestURI()
	p := shown{Title: titles[http.StatusServiceUnavailable], Data: page}
	if p.explain(err); p.Problem == "" {
		p.Problem = fmt.Sprintf("%s does not answer at present", page.Provider)
	}
	v.config.Log.Warn("the setup of a connection cannot be finished at present", "request_id", v.request, "provider", page.Provider,
		"error", errors.Unwrap(err))
	v.retryAfter(err)
	return v.show(http.StatusServiceUnavailable, "connect-again", p)
}
