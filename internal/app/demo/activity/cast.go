package activity

import "github.com/bursarhq/bursar/internal/base/money"

// Indexes of the sources.
const (
	bank = iota
	card
	processor
	coinbase
	kraken
	mainnet
	arbitrum
	berlin
)

const (
	usdcMainnet  = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	usdcArbitrum = "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"
	arbContract  = "0x912CE59144191C1204E64559FE8253a0e49E6548"
	wethMainnet  = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
)

// cast is everybody who appears in transactions repeatedly, with their addresses.
type cast struct {
	treasury, layer2                 string // own wallets
	coinbaseDeposit, krakenDeposit   string
	coinbaseHot, krakenHot           string
	bridgeIn, bridgeOut              string // on either chain
	staking, distributor, conference string
	lender, market                   string
	customers, small, grantees       []party // who pay and are paid on chains
}

type party struct{ name, address string }

func newCast() cast {
	d := roll("cast", 0)
	address := func() string { return "0x" + d.hex(40) }
	parties := func(names ...string) (out []party) {
		for _, n := range names {
			out = append(out, party{n, address()})
		}
		return out
	}
	return cast{
		treasury: address(), layer2: address(), coinbaseDeposit: address(), krakenDeposit: address(), coinbaseHot: address(),
		krakenHot: address(),
		bridgeIn:  address(), bridgeOut: address(), staking: address(), distributor: address(), conference: address(), lender: "0x" +
			roll("lender", 0).hex(40), market: "0x" + roll("market", 0).hex(40),
		customers: parties("Meridian Labs", "Orchard Protocol", "Halyard DAO", "Tessellate", "Quill Network", "Basalt Finance"),
		small:     parties("Pinwheel", "Lanternfish", "Oxbow Games", "Sparrow Wallet Co"),
		grantees:  parties("Ines Okafor", "Rook Collective", "Jonas Weidner", "Anika Rao", "Open Ledger Tools", "Mateus Lima"),
	}
}

func (c cast) sources() []Source {
	return []Source{
		bank:      {Type: "bank", Name: "Operating account", Provider: "plaid", Entity: US, Currency: "USD"},
		card:      {Type: "card", Name: "Company cards", Provider: "ramp", Entity: US, Currency: "USD"},
		processor: {Type: "other", Name: "Card payments", Provider: "stripe", Entity: US, Currency: "USD"},
		coinbase:  {Type: "exchange", Name: "Coinbase", Provider: "coinbase", Entity: US, Currency: "USD"},
		kraken:    {Type: "exchange", Name: "Kraken", Provider: "kraken", Entity: DE, Currency: "USD"},
		mainnet:   {Type: "wallet", Name: "Treasury", Provider: "ethereum", Entity: US, Chain: "ethereum", Address: c.treasury, Currency: "USD"},
		arbitrum: {Type: "wallet", Name: "Grants on Arbitrum", Provider: "arbitrum", Entity: US, Chain: "arbitrum", Address: c.layer2,
			Currency: "USD"},
		berlin: {Type: "bank", Name: "Geschäftskonto", Provider: "plaid", Entity: DE, Currency: "EUR"},
	}
}

// prices are the monthly prices that trades and transfers are valued at, in dollars. USDC is a dollar.
var prices = map[string][Months]string{
	"ETH": {"2281.50", "2478.20", "2893.75", "3304.10", "3120.40", "3436.85", "3389.20", "3215.60", "2680.35", "2544.90", "2602.15", "3105.70",
		"3498.25", "3336.60", "2742.80", "2015.45", "1804.30", "2487.95", "2530.10", "3420.65", "4285.20", "4410.75", "4105.30", "3870.55"},
	"BTC": {"42310", "45280", "57120", "66940", "63850", "67420", "66105", "62890", "59330", "60415", "66270", "84650",
		"97180", "101240", "96420", "84310", "83120", "98760", "105330", "114880", "116240", "113050", "118410", "109870"},
	"ARB": {"1.85", "1.92", "2.04", "1.71", "1.22", "1.10", "0.95", "0.78", "0.56", "0.55", "0.54", "0.71",
		"0.88", "0.74", "0.52", "0.41", "0.32", "0.38", "0.35", "0.36", "0.47", "0.51", "0.46", "0.42"},
}

// price returns the price of an asset in the n-th month.
func price(asset string, n int) money.Decimal {
	if asset == "WETH" {
		asset = "ETH"
	}
	if path, ok := prices[asset]; ok {
		return money.MustParse(path[n])
	}
	return money.FromInt(1)
}

var (
	clients = []string{"Northwind", "Contoso Robotics", "Ashgrove Partners", "Litware Systems", "Fabrikam Freight", "Copperline Media",
		"Juniper Clinics", "Wingtip Travel", "Harrow & Finch",
		"Saltmarsh Energy", "Trey Research", "Vela Logistics"}
	payers = []string{"Abbott Dental", "Bright Kids", "Cobalt Studio", "Dune Cafe", "Elm Street Books", "Fern Yoga", "Gale Surf",
		"Hopyard", "Iris Florist", "Jade Tea", "Kestrel Bikes", "Lumen Lamps"}
	vendors = []struct {
		name, category string
		low, high      int // cents
	}{
		{"Ridgeway Insurance", "insurance", 41_000, 48_000}, {"Pierce & Lowell LLP", "legal", 120_000, 260_000}, {"Metro Fiber",
			"utilities", 18_900, 21_400},
		{"Beacon Recruiting", "recruiting", 90_000, 240_000}, {"Papertrail Bookkeeping", "accounting", 65_000,
			72_000}, {"Glasshouse Cleaning", "facilities", 38_000, 43_000},
	}
	subscriptions = []struct {
		name  string
		cents int
	}{
		{"Codeforge", 63_000}, {"Inkwell Docs", 14_400}, {"Pagerbell", 24_900}, {"Chatterbox", 30_000}, {"Pixelboard",
			13_500}, {"Vaultkey", 9_600}, {"Northlight Analytics", 41_500}, {"Mailroom", 5_900},
	}
	merchants = []struct {
		name, category string
		low, high      int
	}{
		{"Kettle & Co", "Restaurants", 900, 6_400}, {"Skyward Air", "Airlines", 18_000, 64_000}, {"Harborview Hotel", "Lodging", 15_900,
			71_000}, {"Citycab", "Taxi and rides", 850, 5_200},
		{"Deskworks", "Office supplies", 1_900, 24_000}, {"Bytewise Electronics", "Electronics", 4_900, 89_000}, {"Searchlight Ads",
			"Advertising", 25_000, 120_000}, {"Railpass", "Railways", 2_900, 17_500},
		{"Corner Grocer", "Groceries", 700, 5_900}, {"Printshop 24", "Printing", 1_500, 18_000}, {"Learnhub", "Education", 2_900,
			29_900}, {"Parkside Garage", "Parking", 600, 3_900},
	}
	employees = []struct{ name, last4 string }{
		{"Maya Lindqvist", "4410"}, {"Tom Adeyemi", "2087"}, {"Priya Nair", "7731"}, {"Lucas Ferro", "1594"}, {"Hana Suzuki",
			"6642"}, {"Owen Clarke", "3308"},
	}
)
