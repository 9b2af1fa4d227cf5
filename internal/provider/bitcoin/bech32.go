package bitcoin

import "strings"

const (
	bech32Digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	// bech32Sum and bech32mSum are the checksum constants of BIP173, for the version 0, and of BIP350, for all others.
	bech32Sum  = 1
	bech32mSum = 0x2bc830a3
	// bech32SumSize is how many characters the checksum has.
	bech32SumSize = 6
	// segwitPrefix is the prefix of addresses of the main network.
	segwitPrefix = "bc"
	// segwitMax is how many characters an address can have.
	segwitMax = 90
)

// polymod returns the checksum of BIP173 of a prefix and of groups of five bits.
func polymod(prefix string, groups []byte) uint32 {
	sum := uint32(1)
	add := func(value byte) {
		top := sum >> 25
		sum = (sum&0x1ffffff)<<5 ^ uint32(value)
		for i, generator := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= generator
			}
		}
	}
	for i := range len(prefix) {
		add(prefix[i] >> 5)
	}
	add(0)
	for i := range len(prefix) {
		add(prefix[i] & 31)
	}
	for _, group := range groups {
		add(group)
	}
	return sum
}

// regroup changes the size of groups of bits. Bits that are left over must be zero, and fewer than a group, unless they are filled up.
func regroup(groups []byte, from, to uint, fill bool) ([]byte, bool) {
	var out []byte
	bits, held := uint(0), uint32(0)
	for _, group := range groups {
		held = held<<from | uint32(group)
		for bits += from; bits >= to; {
			bits -= to
			out = append(out, byte(held>>bits&(1<<to-1)))
		}
		held &= 1<<bits - 1
	}
	switch {
	case fill && bits > 0:
		out = append(out, byte(held<<(to-bits)))
	case !fill && (bits >= from || held != 0):
		return nil, false
	}
	return out, true
}

// sumOf returns the checksum constant of a witness version.
func sumOf(version byte) uint32 {
	if version == 0 {
		return bech32Sum
	}
	return bech32mSum
}

// encodeSegwit returns the address of a witness program.
func encodeSegwit(version byte, program []byte) string {
	groups, _ := regroup(program, 8, 5, true)
	groups = append([]byte{version}, groups...)
	sum := polymod(segwitPrefix, append(append([]byte(nil), groups...), make([]byte, bech32SumSize)...)) ^ sumOf(version)
	for i := range bech32SumSize {
		groups = append(groups, byte(sum>>(5*(bech32SumSize-1-i))&31))
	}
	var out strings.Builder
	out.WriteString(segwitPrefix + "1")
	for _, group := range groups {
		out.WriteByte(bech32Digits[group])
	}
	return out.String()
}

// decodeSegwit returns the witness program of an address.
func decodeSegwit(text string) (version byte, program []byte, ok bool) {
	lower := strings.ToLower(text)
	if len(text) > segwitMax || text != lower && text != strings.ToUpper(text) {
		return 0, nil, false
	}
	data, found := strings.CutPrefix(lower, segwitPrefix+"1")
	if !found || len(data) < 1+bech32SumSize {
		return 0, nil, false
	}
	groups := make([]byte, len(data))
	for i := range len(data) {
		digit := strings.IndexByte(bech32Digits, data[i])
		if digit < 0 {
			return 0, nil, false
		}
		groups[i] = byte(digit)
	}
	version = groups[0]
	program, ok = regroup(groups[1:len(groups)-bech32SumSize], 5, 8, false)
	short := version == 0 && len(program) != 20 && len(program) != 32
	if !ok || version > 16 || len(program) < 2 || len(program) > 40 || short || polymod(segwitPrefix, groups) != sumOf(version) {
		return 0, nil, false
	}
	return version, program, true
}
