package spam

// Token is a genuine token. A symbol may occur more than once on a chain, bridged and native.
type Token struct{ Chain, Symbol, Contract string }

// natives maps each chain to its native coin, which has no contract.
var natives = map[string]string{
	"arbitrum":  "ETH",
	"avalanche": "AVAX",
	"base":      "ETH",
	"bitcoin":   "BTC",
	"bsc":       "BNB",
	"ethereum":  "ETH",
	"gnosis":    "XDAI",
	"linea":     "ETH",
	"optimism":  "ETH",
	"polygon":   "POL",
	"scroll":    "ETH",
	"solana":    "SOL",
}

// renamed maps former names of native coins, which some sources still report.
var renamed = map[string]string{"MATIC": "POL"}

// builtin lists the tokens that companies hold most and that are imitated most. EVM contracts are written with the EIP-55
// checksum, which a test verifies: a typo would make the genuine token unknown.
var builtin = []Token{
	{"ethereum", "USDC", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},
	{"ethereum", "USDT", "0xdAC17F958D2ee523a2206206994597C13D831ec7"},
	{"ethereum", "DAI", "0x6B175474E89094C44Da98b954EedeAC495271d0F"},
	{"ethereum", "USDS", "0xdC035D45d973E3EC169d2276DDab16f1e407384F"},
	{"ethereum", "USDe", "0x4c9EDD5852cd905f086C759E8383e09bff1E68B3"},
	{"ethereum", "PYUSD", "0x6c3ea9036406852006290770BEdFcAbA0e23A0e8"},
	{"ethereum", "EURC", "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c"},
	{"ethereum", "FRAX", "0x853d955aCEf822Db058eb8505911ED77F175b99e"},
	{"ethereum", "GHO", "0x40D16FC0246aD3160Ccc09B8D0D3A2cD28aE6C2f"},
	{"ethereum", "WETH", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"},
	{"ethereum", "WBTC", "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599"},
	{"ethereum", "cbBTC", "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"},
	{"ethereum", "stETH", "0xae7ab96520DE3A18E5e111B5EaAb095312D7fE84"},
	{"ethereum", "wstETH", "0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0"},
	{"ethereum", "rETH", "0xae78736Cd615f374D3085123A210448E74Fc6393"},
	{"ethereum", "cbETH", "0xBe9895146f7AF43049ca1c1AE358B0541Ea49704"},
	{"ethereum", "LINK", "0x514910771AF9Ca656af840dff83E8264EcF986CA"},
	{"ethereum", "UNI", "0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984"},
	{"ethereum", "AAVE", "0x7Fc66500c84A76Ad7e9c93437bFc5Ac33E2DDaE9"},
	{"ethereum", "ARB", "0xB50721BCf8d664c30412Cfbc6cf7a15145234ad1"},
	{"ethereum", "MATIC", "0x7D1AfA7B718fb893dB30A3aBc0Cfc608AaCfeBB0"},
	{"ethereum", "POL", "0x455e53CBB86018Ac2B8092FdCd39d8444aFFC3F6"},
	{"ethereum", "LDO", "0x5A98FcBEA516Cf06857215779Fd812CA3beF1B32"},
	{"ethereum", "MKR", "0x9f8F72aA9304c8B593d555F12eF6589cC3A579A2"},
	{"ethereum", "CRV", "0xD533a949740bb3306d119CC777fa900bA034cd52"},
	{"ethereum", "COMP", "0xc00e94Cb662C3520282E6f5717214004A7f26888"},
	{"ethereum", "SNX", "0xC011a73ee8576Fb46F5E1c5751cA3B9Fe0af2a6F"},
	{"ethereum", "ENS", "0xC18360217D8F7Ab5e7c516566761Ea12Ce7F9D72"},
	{"ethereum", "GRT", "0xc944E90C64B2c07662A292be6244BDf05Cda44a7"},
	{"ethereum", "YFI", "0x0bc529c00C6401aEF6D220BE8C6Ea1667F6Ad93e"},
	{"ethereum", "BAL", "0xba100000625a3754423978a60c9317c58a424e3D"},
	{"ethereum", "SUSHI", "0x6B3595068778DD592e39A122f4f5a5cF09C90fE2"},
	{"ethereum", "1INCH", "0x111111111117dC0aa78b770fA6A738034120C302"},
	{"ethereum", "GNO", "0x6810e776880C02933D47DB1b9fc05908e5386b96"},
	{"ethereum", "RPL", "0xD33526068D116cE69F19A9ee46F0bd304F21A51f"},
	{"ethereum", "PENDLE", "0x808507121B80c02388fAd14726482e061B8da827"},
	{"ethereum", "ENA", "0x57e114B691Db790C35207b2e685D4A43181e6061"},
	{"ethereum", "SHIB", "0x95aD61b0a150d79219dCF64E1E6Cc01f0B64C4cE"},
	{"ethereum", "PEPE", "0x6982508145454Ce325dDbE47a25d4ec3d2311933"},

	{"polygon", "POL", "0x0000000000000000000000000000000000001010"}, // how some sources report the native coin
	{"polygon", "USDC", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"},
	{"polygon", "USDC.e", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"},
	{"polygon", "USDT", "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"},
	{"polygon", "DAI", "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063"},
	{"polygon", "WETH", "0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619"},
	{"polygon", "WBTC", "0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6"},
	{"polygon", "WPOL", "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270"},
	{"polygon", "wstETH", "0x03b54A6e9a984069379fae1a4fC4dBAE93B3bCCD"},
	{"polygon", "LINK", "0x53E0bca35eC356BD5ddDFebbD1Fc0fD03FaBad39"},
	{"polygon", "UNI", "0xb33EaAd8d922B1083446DC23f610c2567fB5180f"},
	{"polygon", "AAVE", "0xD6DF932A45C0f255f85145f286eA0b292B21C90B"},
	{"polygon", "CRV", "0x172370d5Cd63279eFa6d502DAB29171933a610AF"},

	{"arbitrum", "USDC", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"},
	{"arbitrum", "USDC.e", "0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8"},
	{"arbitrum", "USDT", "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9"}, // USDT0 is its newer name
	{"arbitrum", "DAI", "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1"},
	{"arbitrum", "WETH", "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"},
	{"arbitrum", "WBTC", "0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f"},
	{"arbitrum", "cbBTC", "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"},
	{"arbitrum", "wstETH", "0x5979D7b546E38E414F7E9822514be443A4800529"},
	{"arbitrum", "ARB", "0x912CE59144191C1204E64559FE8253a0e49E6548"},
	{"arbitrum", "LINK", "0xf97f4df75117a78c1A5a0DBb814Af92458539FB4"},
	{"arbitrum", "UNI", "0xFa7F8980b0f1E64A2062791cc3b0871572f1F7f0"},
	{"arbitrum", "AAVE", "0xba5DdD1f9d7F570dc94a51479a000E3BCE967196"},
	{"arbitrum", "GMX", "0xfc5A1A6EB076a2C7aD06eD22C90d7E710E35ad0a"},

	{"optimism", "USDC", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"},
	{"optimism", "USDC.e", "0x7F5c764cBc14f9669B88837ca1490cCa17c31607"},
	{"optimism", "USDT", "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58"},
	{"optimism", "USDT0", "0x01bFF41798a0BcF287b996046Ca68b395DbC1071"},
	{"optimism", "DAI", "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1"},
	{"optimism", "WETH", "0x4200000000000000000000000000000000000006"},
	{"optimism", "WBTC", "0x68f180fcCe6836688e9084f035309E29Bf0A2095"},
	{"optimism", "wstETH", "0x1F32b1c2345538c0c6f582fCB022739c4A194Ebb"},
	{"optimism", "OP", "0x4200000000000000000000000000000000000042"},
	{"optimism", "LINK", "0x350a791Bfc2C21F9Ed5d10980Dad2e2638ffa7f6"},
	{"optimism", "UNI", "0x6fd9d7AD17242c41f7131d257212c54A0e816691"},
	{"optimism", "AAVE", "0x76FB31fb4af56892A25e32cFC43De717950c9278"},

	{"base", "USDC", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
	{"base", "USDbC", "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA"},
	{"base", "EURC", "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"},
	{"base", "DAI", "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb"},
	{"base", "WETH", "0x4200000000000000000000000000000000000006"},
	{"base", "cbETH", "0x2Ae3F1Ec7F1F5012CFEab0185bfc7aa3cf0DEc22"},
	{"base", "cbBTC", "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"},
	{"base", "UNI", "0xc3De830EA07524a0761646a6a4e4be0e114a3C83"},
	{"base", "COMP", "0x9e1028F5F1D5eDE59748FFceE5532509976840E0"},
	{"base", "AERO", "0x940181a94A35A4569E4529A3CDfB74e38FD98631"},

	{"avalanche", "USDC", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"},
	{"avalanche", "USDT", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7"},
	{"avalanche", "WAVAX", "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"},

	{"bsc", "USDC", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"},
	{"bsc", "USDT", "0x55d398326f99059fF775485246999027B3197955"},
	{"bsc", "WBNB", "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"},

	{"gnosis", "USDC", "0xDDAfbb505ad214D7b80b1f830fcCc89B60fb7A83"},
	{"gnosis", "USDC.e", "0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0"},
	{"gnosis", "WXDAI", "0xe91D153E0b41518A2Ce8Dd3D7944Fa863463a97d"},
	{"gnosis", "GNO", "0x9C58BAcC331c9aa871AFD802DB6379a98e80CEdb"},

	{"linea", "USDC", "0x176211869cA2b568f2A7D4EE941E073a821EE1ff"},
	{"linea", "USDT", "0xA219439258ca9da29E9Cc4cE5596924745e12B93"},
	{"linea", "WETH", "0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f"},

	{"scroll", "USDC", "0x06eFdBFf2a14a7c8E15944D1F4A48F9F95F663A4"},
	{"scroll", "USDT", "0xf55BEC9cafDbE8730f096Aa55dad6D22d44099Df"},
	{"scroll", "WETH", "0x5300000000000000000000000000000000000004"},

	{"solana", "USDC", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"},
	{"solana", "USDT", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"},
	{"solana", "PYUSD", "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"},
	{"solana", "EURC", "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"},
	{"solana", "SOL", "So11111111111111111111111111111111111111112"},
	{"solana", "JUP", "JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN"},
	{"solana", "BONK", "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"},
}

// KnownSymbol returns the symbol of a token that is known, by its contract, and an empty text for others.
func KnownSymbol(chain, address string) string {
	return builtinSymbols[contract{lower(chain), parse(address)}]
}

// builtinSymbols are the symbols of the built-in tokens.
var builtinSymbols = func() map[contract]string {
	out := map[contract]string{}
	for _, t := range builtin {
		out[contract{t.Chain, parse(t.Contract)}] = t.Symbol
	}
	return out
}()
