package bitcoin

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// outputs returns the first outputs of the branches that a text stands for.
func outputs(t *testing.T, text string, branch, count int) (scripts, addresses []string) {
	t.Helper()
	branches, _, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for i := range count {
		out, err := branches[branch].at(uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		scripts, addresses = append(scripts, hex.EncodeToString(out.script)), append(addresses, out.address)
	}
	return scripts, addresses
}

// The keys are those of BIP32, of which only the derivations without a private key matter.
func TestKeysAreDerivedAsBIP32Says(t *testing.T) {
	t.Parallel()
	for parent, want := range map[string]struct {
		index uint32
		child string
	}{
		"xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw": {1,
			"xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"},
		"xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5": {2,
			"xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV"},
		"xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV": {1000000000,
			"xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy"},
		"xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB": {0,
			"xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH"},
		"xpub6ASAVgeehLbnwdqV6UKMHVzgqAG8Gr6riv3Fxxpj8ksbH9ebxaEyBLZ85ySDhKiLDBrQSARLq1uNRts8RuJiHjaDMBU4Zn9h8LZNnBC5y4a": {1,
			"xpub6DF8uhdarytz3FWdA8TvFSvvAh8dP3283MY7p2V4SeE2wyWmG5mg5EwVvmdMVCQcoNJxGoWaU9DCWh89LojfZ537wTfunKau47EL2dhHKon"},
	} {
		_, key, ok := parseExtended(parent)
		_, other, valid := parseExtended(want.child)
		child, err := key.child(want.index)
		if !ok || !valid || err != nil || !child.point.IsEqual(other.point) ||
			hex.EncodeToString(child.chain) != hex.EncodeToString(other.chain) {
			t.Errorf("child %d of %s: %v", want.index, parent, err)
		}
	}
}

// The accounts are those of the words "abandon … about". BIP84 and BIP86 state their addresses, and other wallets agree on the first two.
func TestAddressesAreThoseOfBIP44BIP49BIP84AndBIP86(t *testing.T) {
	t.Parallel()
	for account, want := range map[string][3]string{ // two addresses for payments, and one for change
		"xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj": {
			"1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", "1Ak8PffB2meyfYnbXZR9EGfLfFZVpzJvQP", "1J3J6EvPrv8q6AC3VCjWV45Uf3nssNMRtH"},
		"ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP": {
			"37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf", "3LtMnn87fqUeHBUG414p9CWwnoV6E2pNKS", "34K56kSjgUCUSD8GTtuF7c9Zzwokbs6uZ7"},
		"zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs": {
			"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
			"bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"},
		"tr(xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ/<0;1>/*)": {
			"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
			"bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh",
			"bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"},
	} {
		_, pay := outputs(t, account, 0, 2)
		_, change := outputs(t, account, 1, 1)
		if got := [3]string{pay[0], pay[1], change[0]}; got != want {
			t.Errorf("%s: %v, want %v", account, got, want)
		}
	}
}

func TestDescriptorsStandForTheScriptsOfBIP381ToBIP386(t *testing.T) {
	t.Parallel()
	const key = "03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd"
	const child = "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH"
	for text, want := range map[string][]string{
		"pkh([deadbeef/1/2'/3/4']" + key + ")": {"76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac"},
		"pkh([deadbeef/1/2h/3/4h]" + key + ")": {"76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac"},
		"pkh([bd16bee5/2147483647h]xpub69H7F5dQzmVd3vPuLKtcXJziMEQByuDidnX3YdwgtNsecY5HRGtAAQC5mXTt4dsv9RzyjgDjAQs9VGVV6ydYCHnprc9vva" +
			"A5YtqWyL6hyds/0)": {"76a914ebdc90806a9c4356c1c88e42216611e1cb4c1c1788ac"},
		"wpkh(" + key + ")": {"00149a1c78a507689f6f54b847ad1cef1e614ee23f1e"},
		"wpkh([ffffffff/13']" + child + "/1/2/*)": {"0014326b2249e3a25d5dc60935f044ee835d090ba859",
			"0014af0bd98abc2f2cae66e36896a39ffe2d32984fb7", "00141fa798efd1cbf95cebf912c031b8a4a6e9fb9f27"},
		"wpkh([ffffffff/13h]" + child + "/<1;3>/2/*)": {"0014326b2249e3a25d5dc60935f044ee835d090ba859"},
		// BIP49
		"sh(wpkh(03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f))": {"a914336caa13e08b96080a32b5d818d59b4ab3b3674287"},
		// BIP386
		"tr(a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd)": {
			"512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11"},
	} {
		if got, _ := outputs(t, text, 0, len(want)); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestKeysOfSeveralSignersAreSortedAsBIP67Says(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"02ff12471208c14bd580709cb2358d98975247d8765f92bc25eab3b2763ed605f8,02fe6f0a5a297eb38c391581c4413e084773ea23954d93f7753db7dc0adc188b2f": "39bgKC7RFbpoCRbtD5KEdkYKtNyhpsNa3Z",
		"022df8750480ad5b26950b25c7ba79d3e37d75f640f8e5d9bcd5b150a0f85014da,03e3818b65bcc73a7d64064106a859cc1a5a728c4345ff0b641209fba0d90de6e9," +
			"021f2f6e1e50cb6a953935c3601284925decd3fd21bc445712576873fb8c6ebc18": "3Q4sF6tv9wsdqu2NtARzNCpQgwifm2rAba",
	} {
		if _, got := outputs(t, "sh(sortedmulti(2,"+keys+"))", 0, 1); got[0] != want {
			t.Errorf("%s: %s, want %s", keys, got[0], want)
		}
		if _, got := outputs(t, "sh(multi(2,"+keys+"))", 0, 1); got[0] == want {
			t.Errorf("%s: multi sorts the keys", keys)
		}
	}
}

func TestWitnessScriptsOfSeveralSignersAreThoseOfBIP383(t *testing.T) {
	t.Parallel()
	const keys = "xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL/*," +
		"xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y/0/0/*"
	scripts, _ := outputs(t, "wsh(sortedmulti(2,"+keys+"))", 0, 3)
	for i, script := range []string{
		"5221025d5fc65ebb8d44a5274b53bac21ff8307fec2334a32df05553459f8b1f7fe1b6" +
			"2102fbd47cc8034098f0e6a94c6aeee8528abf0a2153a5d8e46d325b7284c046784652ae",
		"52210264fd4d1f5dea8ded94c61e9641309349b62f27fbffe807291f664e286bfbe647" +
			"2103f4ece6dfccfa37b211eb3d0af4d0c61dba9ef698622dc17eecdf764beeb005a652ae",
		"5221022ccabda84c30bad578b13c89eb3b9544ce149787e5b538175b1d1ba259cbb833" +
			"21024d902e1a2fc7a8755ab5b694c575fce742c48d9ff192e63df5193e4c7afe1f9c52ae",
	} {
		data, err := hex.DecodeString(script)
		hash := sha256.Sum256(data)
		if want := "0020" + hex.EncodeToString(hash[:]); err != nil || scripts[i] != want {
			t.Errorf("%d: %s, want %s %v", i, scripts[i], want, err)
		}
	}
}

func TestTheChecksumOfADescriptorIsThatOfBIP380(t *testing.T) {
	t.Parallel()
	if got := descriptorSum("raw(deadbeef)"); got != "89f8spxm" {
		t.Errorf("%s, want 89f8spxm", got)
	}
	const right = "wpkh(03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd)"
	if _, _, err := parse(right + "#" + descriptorSum(right)); err != nil {
		t.Error(err)
	}
	for _, sum := range []string{"", "89f8spxm", descriptorSum(right)[:7], descriptorSum(right) + "q", "#" + descriptorSum(right)[1:]} {
		if _, _, err := parse(right + "#" + sum); err != errChecksum {
			t.Errorf("checksum %q: %v", sum, err)
		}
	}
}

func TestWhatIsNoPublicDescriptorIsRefused(t *testing.T) {
	t.Parallel()
	const key = "03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd"
	const account = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	const private = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
	for text, want := range map[string]error{
		"wpkh(" + private + "/0/*)": errPrivate, private: errPrivate,
		"L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1":      errPrivate,
		"pkh(L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1)": errPrivate,
		"wpkh(" + account + "/0'/*)":                                errHardened, "wpkh(" + account + "/0/*h)": errHardened,
		"wpkh(" + account + "/<0;1>/<2;3>)": errChains, "wpkh(" + account + "/<>/*)": errKey, "wpkh(" + account + "/0>/*)": errKey,
		"wpkh(" + account + "/<0/*)": errKey, "wpkh(" + account + "/<0;>/*)": errKey, "wpkh(" + account + "/<0;0>/*)": errKey,
		"wpkh(" + account + "/2147483648)": errKey, "wpkh(" + account + "/1aa)": errKey, "wpkh(" + account + "/*/0)": errKey,
		"pkh([deadbeef/<0;1>]" + account + "/0)": errKey, "pkh([deadbeef/0h/*]" + key + ")": errKey, "pkh([deadbeef/0h/]" + key + ")": errKey,
		"pkh([deadbef/0h]" + key + ")": errKey, "pkh([deadbeeef/0h]" + key + ")": errKey, "pkh([deadbeef/0f]" + key + ")": errKey,
		"pkh([deadbeef/-0]" + key + ")": errKey, "pkh([deadbeef/0H]" + key + ")": errKey, "pkh([gaaaaaaa]" + key + ")": errKey,
		"pkh(deadbeef]" + key + ")": errKey, "pkh([deadbeef])": errKey, "pkh([aaaaaaaa][aaaaaaaa]" + key + ")": errKey,
		"wsh(multi(2," + account + "/<0;1;2>/*," + account + "/<3;4>/*))": errChains,
		"pkh(pk(" + key + "))": errDescriptor, "sh(" + key + ")": errDescriptor, "sh(sh(pkh(" + key + ")))": errDescriptor,
		"wsh(wpkh(" + key + "))": errDescriptor, "wsh(multi(3," + key + "))": errDescriptor, "tr(" + key + ",pk(" + key + "))": errDescriptor,
		"wpkh(04a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea235)": errKey,
		"": errAddress, "x": errAddress, account + "A": errAddress, "wpkh(": errDescriptor, "()": errDescriptor,
	} {
		if _, _, err := parse(text); err != want {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// The addresses are those of BIP350 and of the first block.
func TestAddressesAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4":                                 "0014751e76e8199196d454941c45d1b3a323f1433bd6",
		"bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y": "5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6",
		"BC1SW50QGDZ25J":                       "6002751e",
		"bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs": "5210751e76e8199196d454941c45d1b3a323",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa":                             "76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac",
		"tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut": "",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd": "",
		"BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL": "",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh":                     "",
		"bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4": "",
		"BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R": "",
		"bc1pw5dgrnzv": "",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav": "",
		"BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P":                                         "",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf":             "",
		"bc1gmk9yu": "", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8F3t4": "", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb": "",
		"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn": "", "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2": "",
	} {
		out, ok := toAddress(text)
		if got := hex.EncodeToString(out.script); ok != (want != "") || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if ok && !strings.EqualFold(out.address, text) {
			t.Errorf("%s is shown as %s", text, out.address)
		}
	}
}
