package imports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Layout is how to read a file, and how that was determined.
type Layout struct {
	Mapping   intake.Mapping
	Reasons   []string        // why, if guessed
	Undecided []string        // what the file leaves open
	Columns   []intake.Column // the columns of the file, if guessed
}

// headMax is how many bytes of a file are read to determine its layout.
const headMax = 1 << 20

// resolveLayout determines how to read a file: from the stated mapping, from a known layout, or by guessing. A guess
// that leaves something undecided is enough for a preview but not for an import, unless a part of the mapping was
// stated: then the user has reviewed it.
func resolveLayout(p Params, s source.Source, file io.ReadSeeker, dry bool) (Layout, error) {
	m, err := p.statedMapping()
	if err != nil {
		return Layout{}, err
	}
	head := make([]byte, headMax)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Layout{}, err
	}
	head = head[:n]
	if problem := intake.DescribeBinary(head); problem != "" {
		return Layout{}, fault.Invalidf("file", "%s", problem)
	}
	l, guessed := Layout{Mapping: m}, false
	if m.Preset == "" && len(m.Columns) == 0 {
		found := intake.Detect(p.FileName, head)
		if guessed = !found.Mapped && m.Format != intake.OFX; guessed {
			if l, err = guess(head, m, s); err != nil {
				return l, err
			}
		} else if known, err := intake.Guess(head); err == nil { // gives the reasons, and what even a known layout leaves undecided
			l.Reasons, l.Undecided = known.Reasons, known.Undecided
		}
	}
	if guessed && p.Mapping == nil && !dry && len(l.Undecided) > 0 {
		return l, l.requireMapping()
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return l, err
	}
	in, err := intake.Open(file, options(p.FileName, l.Mapping, s))
	if err != nil {
		if guessed && p.Mapping == nil {
			err = l.requireMapping()
		}
		return l, asFileFault(err)
	}
	l.Mapping = in.Mapping()
	_, err = file.Seek(0, io.SeekStart)
	return l, err
}

func options(name string, m intake.Mapping, s source.Source) intake.Options {
	o := intake.Options{Name: name, Mapping: m}
	if s.Address != "" {
		o.OwnAddresses = []string{s.Address}
	}
	return o
}

// statedMapping returns the mapping with the format and preset that may be given separately.
func (p Params) statedMapping() (m intake.Mapping, err error) {
	if p.Mapping != nil {
		m = *p.Mapping
	}
	var faults fault.List
	if p.Format != "" && m.Format != "" && p.Format != m.Format {
		faults.Addf("format", "is %s, but the mapping says %s", p.Format, m.Format)
	}
	if p.Preset != "" && m.Preset != "" && p.Preset != m.Preset {
		faults.Addf("preset", "is %s, but the mapping says %s", p.Preset, m.Preset)
	}
	m.Format, m.Preset = cmp.Or(m.Format, p.Format), cmp.Or(m.Preset, p.Preset)
	if p.Format != "" && !slices.Contains(intake.Formats, p.Format) {
		faults.Addf("format", "must be csv, json or ofx")
		m.Format = ""
	}
	if p.Preset != "" && !slices.Contains(intake.PresetNames(), p.Preset) {
		faults.Addf("preset", "must be one of %s", strings.Join(intake.PresetNames(), ", "))
		m.Preset = ""
	}
	if len(m.Columns) > 0 || m.Preset != "" || p.Mapping == nil {
		_ = faults.Merge(m.Validate()) // Validate returns only faults of fields
	}
	return m, faults.Err()
}

// noCurrency is the end of the message of a guess without a currency; the source may have one.
const noCurrency = "state currency"

// guess proposes a mapping and overrides it with what was stated.
func guess(head []byte, stated intake.Mapping, s source.Source) (Layout, error) {
	p, err := intake.Guess(head)
	if err != nil {
		return Layout{}, fault.Invalidf("file", "cannot be read: %v", err)
	}
	m := override(p.Mapping, stated)
	if open := slices.IndexFunc(p.Undecided, func(text string) bool {
		return strings.HasSuffix(text, noCurrency)
	}); open >= 0 && m.Currency == "" && s.Currency != "" {
		m.Currency = s.Currency
		p.Undecided = slices.Delete(p.Undecided, open, open+1)
		p.Reasons = append(p.Reasons, "the source is in "+s.Currency)
	}
	return Layout{m, p.Reasons, p.Undecided, p.Columns}, nil
}

// override replaces guessed settings with stated ones; columns are not among them.
func override(m, stated intake.Mapping) intake.Mapping {
	out := stated
	out.Columns = m.Columns
	out.Format, out.Preset = cmp.Or(stated.Format, m.Format), cmp.Or(stated.Preset, m.Preset)
	out.Encoding, out.Delimiter = cmp.Or(stated.Encoding, m.Encoding), cmp.Or(stated.Delimiter, m.Delimiter)
	out.HeaderRow, out.Decimal = cmp.Or(stated.HeaderRow, m.HeaderRow), cmp.Or(stated.Decimal, m.Decimal)
	out.Direction, out.AmountIs = cmp.Or(stated.Direction, m.Direction), cmp.Or(stated.AmountIs, m.AmountIs)
	out.Currency, out.ValueCurrency = cmp.Or(stated.Currency, m.Currency), cmp.Or(stated.ValueCurrency, m.ValueCurrency)
	if len(stated.DateLayouts) == 0 {
		out.DateLayouts = m.DateLayouts
	}
	return out
}

// requireMapping rejects a file whose mapping cannot be guessed, and says what to decide.
func (l Layout) requireMapping() error {
	names := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		names[i] = fmt.Sprintf("%q", c.Name)
		if c.Name == "" {
			names[i] = fmt.Sprintf("#%d", c.Number)
		}
	}
	open := l.Undecided
	if len(open) == 0 {
		open = []string{"how its columns are to be read"}
	}
	return fault.Invalidf("mapping", "is required, because the file leaves these questions open: %s. Its columns are %s",
		strings.Join(open, "; "), strings.Join(names, ", "))
}

// asFileFault turns an error that is not a fault of the mapping into a fault of the file.
func asFileFault(err error) error {
	if err == nil || fault.KindOf(err) == fault.Invalid {
		return err
	}
	return fault.Invalidf("file", "cannot be read: %v", err)
}
