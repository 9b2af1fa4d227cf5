package kraken

import (
	"encoding/json"
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
)

func TestAmountsMayBeTextsOrNumbersAndHaveToBeStated(t *testing.T) {
	t.Parallel()
	entry := func(amounts string) provider.Page {
		out := provider.Page{}
		add(&out, map[string]json.RawMessage{"L1": json.RawMessage(`{"refid":"R","time":1688464484.1787,"type":"deposit","asset":"XXBT",` +
			amounts + `}`)}, &span{})
		return out
	}
	for _, amounts := range []string{`"amount":"1234567890.12345678","fee":"0.00000001"`, `"amount":1234567890.12345678,"fee":1e-08`} {
		p := entry(amounts)
		if len(p.Records) != 1 || p.Records[0].Quantity.String() != "1234567890.12345678" {
			t.Errorf("%s: %+v", amounts, p)
		}
	}
	for _, amounts := range []string{`"amount":"1"`, `"fee":"0"`, `"amount":null,"fee":"0"`, `"amount":"1","fee":null`, `"amount":"x","fee":"0"`} {
		if p := entry(amounts); len(p.Records) != 0 || len(p.Omitted) != 1 {
			t.Errorf("%s: %+v", amounts, p)
		}
	}
}
