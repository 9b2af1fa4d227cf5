// Package measure computes the carrying amount of assets and debts at the end of a period and the entry that it requires: fair
// value (ASU 2023-08), revaluation (IAS 38), cost less impairment, and balances in foreign currency or in a digital asset at the
// closing rate or price. It never changes the cost of an asset: an adjustment account next to the cost brings it to its carrying
// amount. Disposals are booked against cost, so the adjustment of lots that were disposed of is released here.
package measure
