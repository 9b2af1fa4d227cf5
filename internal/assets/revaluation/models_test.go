package revaluation_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
)

func TestFairValueIsBookedThroughIncomeAndReleasedByDisposals(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 2 3000")
		w.buy("L2 ETH 2025-06-01 3 6000")
		w.closing("ETH", "2025-08", "2200")
		w.say("August", w.run("2025-08"), "ETH fair_value 0 to 2000: posted")
		w.closing("ETH", "2025-09", "2450")
		w.say("September", w.run("2025-09"), "ETH fair_value 2000 to 3250: posted")
		w.say("September", w.moved("2025-09"), "fair_value_adjustment:ETH 1250, unrealized_gain 1250")
		w.sell("L1 2025-10-05 2 5000")
		w.sell("L2 2025-10-05 0.5 1250")
		w.closing("ETH", "2025-10", "2300")
		w.say("October", w.run("2025-10"), "ETH fair_value 3250 to 750: posted")
		w.say("October, -250 in all", w.moved("2025-10"), "fair_value_adjustment:ETH -2500, realized_gain 2250, unrealized_loss -2500")
		w.sell("L2 2025-11-01 2.5 5500")
		w.say("November, nothing is held and no price needed", w.run("2025-11"), "ETH fair_value 750 to 0: posted")
		w.say("December", w.run("2025-12"), "")
	})
}

func TestARevaluedAssetKeepsWhatExceedsCostInEquity(t *testing.T) {
	each(t, "ifrs fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 1 100")
		for _, c := range []struct{ key, price, did, moved string }{
			{"2025-02", "130", "ETH revaluation 0 to 30: posted", "fair_value_adjustment:ETH 30, revaluation_surplus 30"},
			{"2025-03", "90", "ETH revaluation 30 to -10: posted", "fair_value_adjustment:ETH -40, revaluation_surplus -30, unrealized_loss -10"},
			{"2025-04", "120", "ETH revaluation -10 to 20: posted", "fair_value_adjustment:ETH 30, revaluation_surplus 20, unrealized_gain 10"},
			{"2025-05", "120", "ETH revaluation 20 to 20: none", ""},
		} {
			w.closing("ETH", c.key, c.price)
			w.say(c.key, w.run(c.key), c.did)
			w.say(c.key, w.moved(c.key), c.moved)
		}
		w.sell("L1 2025-06-10 1 125")
		w.say("sold", w.run("2025-06"), "ETH revaluation 20 to 0: posted")
		w.say("5 in income, 20 in retained earnings", w.moved("2025-06"),
			"fair_value_adjustment:ETH -20, realized_gain 25, realized_loss -20, retained_earnings_posted 20, revaluation_surplus -20")
		w.say("it is gone", w.run("2025-07"), "")
	})
}

func TestAnImpairedAssetIsWrittenDownAndItsShareReleasedWhenItIsSold(t *testing.T) {
	each(t, "us_gaap impairment", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 2 100")
		w.price("ETH 2025-02-10T00:00:00Z 35")
		w.closing("ETH", "2025-02", "60")
		w.say("the lowest price of the month counts", w.run("2025-02"), "ETH impairment 0 to -30: posted")
		w.say("February", w.moved("2025-02"), "accumulated_impairment:ETH -30, impairment_loss -30")
		w.closing("ETH", "2025-03", "80")
		// what cost nothing needs no price
		w.add("L0", "", "AIR", "2025-03-01", "2025-03-01", dec("1000"), dec("0"), w.post("2025-03-01", "1010 +1", "3010 -1"))
		w.say("never up again", w.run("2025-03"), "AIR impairment 0 to 0: none, ETH impairment -30 to -30: none")
		w.sell("L1 2025-04-10 1 45")
		w.closing("ETH", "2025-04", "80")
		w.say("half is sold", w.run("2025-04"), "AIR impairment 0 to 0: none, ETH impairment -30 to -15: posted")
		w.say("a gain of 10", w.moved("2025-04"), "accumulated_impairment:ETH 15, realized_gain 15, realized_loss -5")
		w.buy("L2 ETH 2025-05-20 1 50")
		w.price("ETH 2025-05-10T00:00:00Z 20")
		w.price("ETH 2025-05-25T00:00:00Z 48")
		w.closing("ETH", "2025-05", "60")
		w.say("a lot is not impaired by prices before it", w.run("2025-05"), "AIR impairment 0 to 0: none, ETH impairment -15 to -32: posted")
	})
}

func TestUnderIFRSAnImpairmentIsReversedUpToCost(t *testing.T) {
	each(t, "ifrs impairment", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 1 100")
		w.price("ETH 2025-02-10T00:00:00Z 35")
		for _, c := range []struct{ key, price, did string }{
			{"2025-02", "70", "ETH impairment 0 to -30: posted"},
			{"2025-03", "90", "ETH impairment -30 to -10: posted"},
			{"2025-04", "140", "ETH impairment -10 to 0: posted"},
			{"2025-05", "150", "ETH impairment 0 to 0: none"},
		} {
			w.closing("ETH", c.key, c.price)
			w.say(c.key, w.run(c.key), c.did)
		}
		w.say("April", w.moved("2025-04"), "accumulated_impairment:ETH 10, impairment_loss 10")
	})
}

func TestForeignMoneyIsRemeasuredAtTheClosingRate(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 1 100") // at cost: it needs no price
		w.foreign("1010 2025-09-05 EUR 10000 1.0800")
		w.foreign("2010 2025-09-06 EUR -500 1.0800")
		w.foreign("4010 2025-09-06 EUR -100 1.0800") // what was earned is not remeasured
		w.closing("EUR", "2025-09", "1.1050")
		w.say("September", w.run("2025-09"), "EUR fx 10260 to 10497.5: posted")
		w.say("September", w.moved("2025-09"), "accounts_payable 552.5, fx_gain 250, fx_loss -12.5")
		w.say("again", w.run("2025-09"), "EUR fx 10260 to 10497.5: kept")
		w.closing("EUR", "2025-10", "1.0800")
		w.say("October follows on September", w.run("2025-10"), "EUR fx 10497.5 to 10260: posted")
		w.closing("EUR", "2025-11", "1.0800")
		w.say("November", w.run("2025-11"), "EUR fx 10260 to 10260: none")
		w.say("October", w.moved("2025-10"), "accounts_payable -12.5, fx_gain 12.5, fx_loss -250")
	})
}

func TestAnAdjustmentFollowsALotThatIsMovedOrConverted(t *testing.T) {
	each(t, "ifrs fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 4 400")
		w.closing("ETH", "2025-02", "130")
		w.say("February", w.run("2025-02"), "ETH revaluation 0 to 120: posted")
		w.convert("L1 2025-03-05 1 L2 ETH 1")
		w.convert("L2 2025-03-06 1 L3 ETH 1")
		w.convert("L1 2025-03-07 2 W1 gETH 2000")
		w.closing("ETH", "2025-03", "130")
		w.closing("gETH", "2025-03", "0.13")
		w.say("March", w.run("2025-03"), "ETH revaluation 120 to 60: posted, gETH revaluation 0 to 60: posted")
		w.say("nothing was realized, and the surplus is what it was", w.moved("2025-03"),
			"fair_value_adjustment:ETH -60, fair_value_adjustment:gETH 60")
		w.sell("L3 2025-04-05 1 140")
		w.closing("ETH", "2025-04", "130")
		w.closing("gETH", "2025-04", "0.13")
		w.say("April", w.run("2025-04"), "ETH revaluation 60 to 30: posted, gETH revaluation 60 to 60: none")
		w.say("April", w.moved("2025-04"),
			"fair_value_adjustment:ETH -30, realized_gain 40, realized_loss -30, retained_earnings_posted 30, revaluation_surplus -30")
	})
}

func TestOnlyWhatWasSoldIsReleasedWhenTheRestWasConverted(t *testing.T) {
	each(t, "ifrs fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 4 400")
		w.closing("ETH", "2025-02", "130")
		w.run("2025-02")
		w.convert("L1 2025-03-07 2 W1 gETH 2000")
		w.sell("L1 2025-03-08 1 140")
		w.closing("ETH", "2025-03", "130")
		w.closing("gETH", "2025-03", "0.13")
		w.say("March", w.run("2025-03"), "ETH revaluation 120 to 30: posted, gETH revaluation 0 to 60: posted")
		w.say("March", w.moved("2025-03"),
			"fair_value_adjustment:ETH -90, fair_value_adjustment:gETH 60, realized_gain 40, realized_loss -30, retained_earnings_posted "+
				"30, revaluation_surplus -30")
	})
}

func TestAWriteDownIsNotLostByWrapping(t *testing.T) {
	each(t, "us_gaap impairment", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-01-10 2 200")
		w.closing("ETH", "2025-02", "70")
		w.say("February", w.run("2025-02"), "ETH impairment 0 to -60: posted")
		w.convert("L1 2025-03-05 1 W1 WETH 1")
		w.closing("ETH", "2025-03", "200")
		w.closing("WETH", "2025-03", "200")
		w.say("March", w.run("2025-03"), "ETH impairment -60 to -30: posted, WETH impairment 0 to -30: posted")
		w.say("March", w.moved("2025-03"), "accumulated_impairment:ETH 30, accumulated_impairment:WETH -30")
	})
}

func TestWhatIsOutsideOfFairValueIsImpairedAndSomeThingsAreNotMeasured(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		own := true
		if _, err := assetpolicy.NewService(w.d).Put(w.ctx, assetpolicy.PutParams{AssetType: "ACME", OwnToken: &own}); err != nil {
			t.Fatal(err)
		}
		w.buy("L1 ETH 2025-01-10 1 100")
		w.buy("L2 USDC 2025-01-10 1000 1000")
		w.buy("L3 ACME 2025-01-10 1000 10")  // its own token
		w.buy("L4 PUNK#7 2025-01-10 1 5000") // one of a kind
		w.closing("ETH", "2025-02", "90")
		w.closing("USDC", "2025-02", "1.01")
		w.say("February", w.run("2025-02"), "ETH fair_value 0 to -10: posted, USDC impairment 0 to 0: none")
		w.measures("ifrs fair_value")
		w.closing("ETH", "2025-03", "110")
		w.closing("USDC", "2025-03", "1.01")
		w.say("under IFRS both are revalued, and the account is taken over", w.run("2025-03"),
			"ETH revaluation -10 to 10: posted, USDC revaluation 0 to 10: posted")
		w.measures("ifrs impairment")
		w.closing("ETH", "2025-04", "90")
		w.closing("USDC", "2025-04", "1")
		w.say("at cost less impairment", w.run("2025-04"),
			"ETH impairment 0 to -10: posted, USDC impairment 0 to 0: none, ETH revaluation 10 to 0: posted, USDC revaluation 10 to 0: posted")
		w.measures("ifrs cost")
		w.say("at cost", w.run("2025-05"), "ETH impairment -10 to 0: posted")
		w.say("at cost", w.moved("2025-05"), "accumulated_impairment:ETH 10, unrealized_gain 10")
	})
}
