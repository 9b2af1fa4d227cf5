package intake

import (
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// preset is the layout of a platform's export.
type preset struct {
	name  string
	title string
	// columns must all be present for a file to match; alternative names of a column are separated by |.
	columns []string
	// open resolves the columns and returns the interpreter of rows.
	open func(s *sheet, o *Options) interpreter
}

// presets are all known layouts; the first that matches a file is used.
var presets = []*preset{coinbase, kraken, binance, etherscanTokens, etherscanNFTs, etherscan, mercury, stripe}

func presetNamed(name string) *preset {
	for _, p := range presets {
		if p.name == name {
			return p
		}
	}
	return nil
}

// PresetNames returns the names of the known layouts.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// matches reports whether a header has all columns of the layout.
func (p *preset) matches(header []string) bool {
	s := sheet{header: header}
	for _, column := range p.columns {
		if strings.HasSuffix(column, "*") {
			if s.findPrefix(strings.TrimSuffix(column, "*")) < 0 {
				return false
			}
		} else if s.find(strings.Split(column, "|")...) < 0 {
			return false
		}
	}
	return true
}

// pointColumn is a number column of a platform that always writes a decimal point.
func pointColumn(index int) numeric { return numeric{index: index, mark: markPoint} }

// Movement returns the records of a movement of amount, above zero for an inflow. The fee, in the same currency, is deducted from what
// arrives and added to what leaves. r holds the rest of the record. If nothing moved, it returns the reason to skip it.
func Movement(r Record, amount, fee money.Decimal) ([]Record, string) {
	if amount.IsZero() && fee.IsZero() {
		return nil, "nothing moved: the amount is zero"
	}
	return splitLegs(r, amount, fee).records(), ""
}

// nameSet returns the set of folded names in a text separated by bars.
func nameSet(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.SplitSeq(names, "|") {
		set[fold(strings.TrimSpace(name))] = true
	}
	return set
}
