package notation

import (
	"io"
	"iter"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// Format names a way to write a journal down.
type Format string

// The formats.
const (
	Hledger   Format = "hledger"
	Beancount Format = "beancount"
	CSV       Format = "csv"
)

// Formats are all formats, in the order in which to offer them.
var Formats = []Format{Hledger, Beancount, CSV}

// ParseFormat finds a format by its name.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats {
		if string(f) == name {
			return f, nil
		}
	}
	return "", unknownFormat(Format(name))
}

func unknownFormat(f Format) error {
	names := make([]string, len(Formats))
	for i, known := range Formats {
		names[i] = string(known)
	}
	return fault.Malformedf("there is no format %q; use one of %s", f, strings.Join(names, ", "))
}

const (
	// entryMax bounds the text of one entry, which is all that is ever held in memory.
	entryMax = 16 << 20
	// postingsMax bounds the postings of one entry.
	postingsMax = 10_000
	// depthMax bounds the levels of an account.
	depthMax = 100
	// currenciesMax bounds the currencies of one entry, so that adding it up stays quick.
	currenciesMax = 200
	// pushedMax bounds the tags that a beancount journal may add to all that follows.
	pushedMax = 100
)

// Item is one thing a journal says; exactly one field is set.
type Item struct {
	Account *Account
	Price   *Price
	Entry   *Entry
}

// Account declares an account.
type Account struct {
	Path []string // Names from the root type down.
	Type string   // Asset, Liability, Equity, Revenue or Expense; empty where a journal does not say.
	Code string
	ID   string
	Tags []Tag // Whatever else is known of it.
	Line int   // Where it was read, for errors.
}

// The types of account.
const (
	Asset     = "Asset"
	Liability = "Liability"
	Equity    = "Equity"
	Revenue   = "Revenue"
	Expense   = "Expense"
)

// Price says that one Base was worth Rate of Quote on a day.
type Price struct {
	Date   string // 2006-01-02
	Base   string
	Quote  string
	Rate   money.Decimal
	Source string // Who quoted it.
	Line   int
}

// Entry is one journal entry. Everything but the date and the postings may be empty.
type Entry struct {
	ID             string
	Number         string
	Date           string // 2006-01-02
	Instant        string // The accounting instant, RFC 3339.
	Intended       string // The instant it was meant for, where that was closed.
	Posted         bool   // Otherwise a draft.
	Memo           string
	Entity         string // The name of the legal entity.
	Tags           []Tag
	Classification string
	OriginatedBy   string
	Previous       string // The entry this one reverses or follows, by number or id.
	Next           string // The entry that reverses or follows this one.
	Postings       []Posting
	Line           int
}

// Tag is one label of a kind, such as Department: Research.
type Tag struct{ Kind, Name string }

// Posting moves an amount in or out of one account.
type Posting struct {
	Account  []string // Names from the root type down.
	Debit    bool
	Amount   money.Decimal // Above zero.
	Currency string
	// Base is the whole amount in the currency of the books, where that is another one; zero is possible.
	Base         *money.Decimal
	BaseCurrency string
	Memo         string
	Entity       string
	Tags         []Tag
	Line         int
}

// weight is what a posting adds to the balance of its entry, debits above zero.
func (p *Posting) weight() (money.Decimal, string) {
	amount, currency := p.Amount, p.Currency
	if p.Base != nil {
		amount, currency = *p.Base, p.BaseCurrency
	}
	if !p.Debit {
		amount = amount.Neg()
	}
	return amount, currency
}

// Read gives the items of a journal in their order. The name is the file's, for errors. After an error, which names the
// line and says what to do, there are no more items.
func Read(format Format, name string, r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		src := newSource(name, r)
		out := &output{yield: yield}
		var err error
		switch format {
		case Hledger:
			err = readHledger(src, out)
		case Beancount:
			err = readBeancount(src, out)
		case CSV:
			err = readCSV(src, out)
		default:
			err = unknownFormat(format)
		}
		if err != nil && !out.stopped {
			yield(Item{}, err)
		}
	}
}

// output hands items to whoever iterates and remembers when they had enough.
type output struct {
	yield   func(Item, error) bool
	stopped bool
}

// put reports whether to go on.
func (o *output) put(item Item) bool {
	o.stopped = o.stopped || !o.yield(item, nil)
	return !o.stopped
}

// TypeOfRoot guesses the type of an account from the name at its root, as hledger does; empty where it tells nothing.
func TypeOfRoot(root string) string {
	switch strings.ToLower(root) {
	case "asset", "assets":
		return Asset
	case "liability", "liabilities", "debt", "debts":
		return Liability
	case "equity":
		return Equity
	case "revenue", "revenues", "income", "incomes":
		return Revenue
	case "expense", "expenses":
		return Expense
	}
	return ""
}
