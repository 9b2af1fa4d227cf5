package binance

import "testing"

// The values are those of the examples in Binance's documentation of the API.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	const secret = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j"
	got := sign(secret, "symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559")
	if want := "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
