package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// The mark that carries the key of a journal at the end of its text, for systems that have no field of their own for it.
const (
	markStart = "[Bursar "
	markEnd   = "]"
)

// Mark returns a text with the key of a journal at its end, from which Unmark reads it. The text is cut so that both together have at most
// a number of characters.
func Mark(text, key string, limit int) string {
	mark := markStart + key + markEnd
	if text = Shorten(text, limit-len(mark)-1); text != "" {
		return text + " " + mark
	}
	return mark
}

// Unmark returns a text without the key that Mark has put into it, and the key. The key is empty if there is none.
func Unmark(text string) (plain, key string) {
	start := strings.LastIndex(text, markStart)
	if start < 0 {
		return text, ""
	}
	key, rest, found := strings.Cut(text[start+len(markStart):], markEnd)
	if !found || key == "" || strings.ContainsAny(key, " [") {
		return text, ""
	}
	return strings.TrimSpace(text[:start] + rest), key
}

// ellipsis ends a text that was cut.
const ellipsis = "…"

// Shorten returns a text of at most a number of characters, which are counted as UTF-16 code units, because systems count them so or more
// generously. It never cuts a character in two.
func Shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(utf16.Encode([]rune(text))) <= limit {
		return text
	}
	used := 1 // the ellipsis
	for at, r := range text {
		if used += utf16.RuneLen(r); used > limit {
			if limit < 1 {
				return ""
			}
			return strings.TrimSpace(text[:at]) + ellipsis
		}
	}
	return text
}

// CheckAmounts returns an error of kind Conflict if an amount of a journal has more decimals than its currency, which a general ledger
// would round or refuse.
func (j Journal) CheckAmounts() error {
	places, known := money.MinorUnits(j.Currency)
	if !known {
		return fault.Conflictf("the currency %q is not one of ISO 4217, which general ledgers require", Clean(j.Currency))
	}
	for i, line := range j.Lines {
		if !line.Amount.Equal(line.Amount.Round(places)) {
			return fault.Conflictf("the amount %s of line %d has more decimals than %s has: round it before it is sent", line.Amount, i+1,
				j.Currency)
		}
	}
	return nil
}

// Blame returns an error of kind Conflict that names the accounts of a journal that a general ledger does not accept, or nil if there are
// none.
func (c Chart) Blame(title string, j Journal) error {
	var faults []string
	for i, line := range j.Lines {
		at := slices.IndexFunc(c.Accounts, func(a LedgerAccount) bool { return a.ID == line.Account })
		text := ""
		switch {
		case at < 0:
			text = fmt.Sprintf("the account %s of line %d does not exist there", Clean(line.Account), i+1)
		case !c.Accounts[at].Active:
			text = fmt.Sprintf("the account %s of line %d is inactive", c.Accounts[at].Label(), i+1)
		case c.Accounts[at].Refuses != "":
			text = fmt.Sprintf("the account %s of line %d cannot be used, because %s", c.Accounts[at].Label(), i+1, c.Accounts[at].Refuses)
		}
		if text != "" && !slices.Contains(faults, text) {
			faults = append(faults, text)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fault.Conflictf("%s refuses the journal: %s. Map the account to another one", title, strings.Join(faults, "; "))
}

// Refused returns why a general ledger refuses a journal, after an error of kind Conflict that may not tell: it names accounts that cannot
// be used and periods that are closed.
func Refused(ctx context.Context, l Ledger, s *Session, j Journal, err error) error {
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	chart, failed := l.Chart(ctx, s)
	if failed != nil {
		return err
	}
	title := l.Describe().Title
	if blamed := chart.Blame(title, j); blamed != nil {
		return blamed
	}
	if j.Date <= chart.LockedThrough {
		return Locked(title, j.Date, chart.LockedThrough)
	}
	return err
}

// Label returns how people call an account: its number and its name.
func (a LedgerAccount) Label() string {
	return strings.TrimSpace(Clean(a.Code + " " + a.Name + " (" + a.ID + ")"))
}

// Locked returns the error for a journal in a locked period.
func Locked(title, date, through string) error {
	return fault.Conflictf("%s refuses the journal of %s, because the periods through %s are closed there. Reopen them, or date the entry "+
		"later", title, date, through)
}

// Storage is how a connector stores a journal in a system that recognizes repeated requests for a while only.
type Storage struct {
	// Find returns the journal if it is there, and an error of kind NotFound if it is not.
	Find func(ctx context.Context) (Posted, error)
	// Prepare is called before the first request is sent, and returns an error if the journal cannot be stored. It is nil if there is nothing
	// to do.
	Prepare func(ctx context.Context) error
	// Send returns the request that stores it. The system takes those of one attempt for the same request; attempts count from 1.
	Send func(attempt int) Call
	// Read decodes the answer.
	Read func(body []byte) (Posted, error)
	// Get returns a journal by its id, as Ledger.Get.
	Get func(ctx context.Context, id string) (Posted, error)
}

// attemptsMax is how often a journal can be stored and removed again while a system remembers the requests.
const attemptsMax = 10

// errStored means that a journal was found instead of stored.
var errStored = errors.New("the journal is there already")

// Store stores a journal once: it looks for it before each request that may be a repeat of one whose answer was lost. A system that repeats
// its answer to an earlier request does so although the journal was removed since, so that what it answers with is read again.
func (s *Session) Store(ctx context.Context, with Storage) (Posted, error) {
	for attempt := 1; attempt <= attemptsMax; attempt++ {
		p, err := s.store(ctx, with, attempt)
		if err != nil {
			return Posted{}, err
		}
		there, err := with.Get(ctx, p.ID)
		if err == nil {
			return there, nil
		}
		if fault.KindOf(err) != fault.NotFound {
			return Posted{}, err
		}
	}
	return Posted{}, fault.Conflictf("%s repeats its answer to requests of journals that were removed: send the journal again tomorrow",
		s.Title())
}

// store looks for a journal, and sends a request if it is not there.
func (s *Session) store(ctx context.Context, with Storage, attempt int) (Posted, error) {
	var found Posted
	seek := func(ctx context.Context) (err error) {
		if found, err = with.Find(ctx); err == nil {
			return errStored
		}
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		return nil
	}
	if err := seek(ctx); errors.Is(err, errStored) {
		return found, nil
	} else if err != nil {
		return Posted{}, err
	}
	if with.Prepare != nil {
		if err := with.Prepare(ctx); err != nil {
			return Posted{}, err
		}
	}
	c := with.Send(attempt)
	build, first := c.Build, true
	c.Build = func(ctx context.Context) (*http.Request, error) {
		if !first {
			if err := seek(ctx); err != nil {
				return nil, err
			}
		}
		first = false
		return build(ctx)
	}
	body, err := s.Do(ctx, c)
	if errors.Is(err, errStored) {
		return found, nil
	}
	if err != nil {
		return Posted{}, err
	}
	return with.Read(body)
}
