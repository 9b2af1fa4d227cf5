package intake

import (
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// preset is a layout that a platform exports.
type preset struct {
	name  string
	title string
	// columns must all be there for a file to be of this layout; a | stands between names of the same column.
	columns []string
	// open finds the columns and gives what reads a row.
	open func(s *sheet, o *Options) interpreter
}

// presets are all layouts; where a file fits several, the first counts.
var presets = []*preset{coinbase, kraken, binance, etherscanTokens, etherscanNFTs, etherscan, mercury, stripe}

func presetNamed(name string) *preset {
	for _, p := range presets {
		if p.name == name {
			return p
		}
	}
	return nil
}

// PresetNames lists the known layouts.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// matches tells whether a header is of the layout.
func (p *preset) matches(header []string) bool {
	s := sheet{header: header}
	for _, column := range p.columns {
		if strings.HasSuffix(column, "*") {
			if s.starting(strings.TrimSuffix(column, "*")) < 0 {
				return false
			}
		} else if s.find(strings.Split(column, "|")...) < 0 {
			return false
		}
	}
	return true
}

// points is a column of numbers of a platform that always writes a decimal point.
func points(place int) numeric { return numeric{place: place, mark: markPoint} }

// oneOrMore makes the legs of a movement into records; a movement of nothing is skipped.
func oneOrMore(r Record, amount, fee money.Decimal) ([]Record, string) {
	if amount.IsZero() && fee.IsZero() {
		return nil, "nothing moved: the amount is zero"
	}
	return settle(r, amount, fee).records(), ""
}

// among makes a set of names, which a bar separates, folded.
func among(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.SplitSeq(names, "|") {
		set[fold(strings.TrimSpace(name))] = true
	}
	return set
}
