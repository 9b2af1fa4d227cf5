package notation

import (
	"io"
	"iter"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// Format is a text format for journals.
type Format string

// The formats.
const (
	Hledger   Format = "hledger"
	Beancount Format = "beancount"
	CSV       Format = "csv"
)

// Formats are all formats, in the order in which to offer them.
var Formats = []Format{Hledger, Beancount, CSV}

// ParseFormat returns the format with a name.
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
	// entryMax bounds the text of one entry, which is all that is held in memory.
	entryMax = 16 << 20
	// postingsMax bounds the postings of one entry.
	postingsMax = 10_000
	// depthMax bounds the levels of an account.
	depthMax = 100
	// currenciesMax bounds the currencies of one entry, so that summing it stays fast.
	currenciesMax = 200
	// pushedMax bounds the tags and metadata pushed in a beancount journal.
	pushedMax = 100
)

// Item is one item of a journal; exactly one field is set.
type Item struct {
	Account *Account
	Price   *Price
	Entry   *Entry
}

// Account declares an account.
type Account struct {
	Path []string // Names, beginning with the root.
	Type string   // Asset, Liability, Equity, Revenue or Expense; empty if the journal does not state it.
	Code string
	ID   string
	Tags []Tag // Other properties.
	Line int   // Its line in the file, for errors.
}

// The account types.
const (
	Asset     = "Asset"
	Liability = "Liability"
	Equity    = "Equity"
	Revenue   = "Revenue"
	Expense   = "Expense"
)

// Price states that one Base was worth Rate of Quote on a day.
type Price struct {
	Date   string // 2006-01-02
	Base   string
	Quote  string
	Rate   money.Decimal
	Source string // Who quoted it.
	Line   int
}

// Entry is one journal entry. Everything except the date and the postings may be empty.
type Entry struct {
	ID             string
	Number         string
	Date           string // 2006-01-02
	Instant        string // The accounting instant, RFC 3339.
	Intended       string // The intended instant, if its period was closed.
	Posted         bool   // Otherwise a draft.
	Memo           string
	Entity         string // The name of the legal entity.
	Tags           []Tag
	Classification string
	OriginatedBy   string
	Previous       string // The entry that this one reverses or follows, by number or id.
	Next           string // The entry that reverses or follows this one.
	Postings       []Posting
	Line           int
}

// Tag is a label of a kind, such as Department: Research.
type Tag struct{ Kind, Name string }

// Posting moves an amount in or out of one account.
type Posting struct {
	Account  []string // Names, beginning with the root.
	Debit    bool
	Amount   money.Decimal // Above zero.
	Currency string
	// Base is the total in the currency of the books, if that is a different currency; it may be zero.
	Base         *money.Decimal
	BaseCurrency string
	Memo         string
	Entity       string
	Tags         []Tag
	Line         int
}

// weight returns what a posting adds to the balance of its entry, above zero for debits.
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

// Read iterates over the items of a journal in order. The name is that of the file, for errors. An error names the line
// and says what to do, and ends the iteration.
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

// output passes items to the consumer of an iterator and remembers whether it has stopped.
type output struct {
	yield   func(Item, error) bool
	stopped bool
}

// emit passes an item on and reports whether to continue.
func (o *output) emit(item Item) bool {
	o.stopped = o.stopped || !o.yield(item, nil)
	return !o.stopped
}

// TypeOfRoot guesses the type of an account from the name of its root, as hledger does; empty if the name implies none.
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
