package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// descriptorDigits are the characters of descriptors in the order of BIP380, which is that of their values in the checksum.
const descriptorDigits = "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "

// descriptorSumSize is how many characters the checksum of a descriptor has.
const descriptorSumSize = 8

const (
	// keysMax is how many keys a descriptor can have.
	keysMax = 20
	// keysMaxHash is how many keys it can have if coins are sent to the hash of its script, whose size is limited.
	keysMaxHash = 15
	// branchesMax is how many chains of addresses a descriptor can have.
	branchesMax = 10
	// stepsMax is how many steps the path of a key can have.
	stepsMax = 10
)

// Why a descriptor cannot be used.
var (
	errChecksum   = errors.New("has a wrong checksum: copy the descriptor again, together with the eight characters behind #")
	errDescriptor = errors.New("is not a descriptor of a supported kind: these are pkh, wpkh, sh(wpkh), tr with a key alone, and multi or " +
		"sortedmulti in sh, wsh or sh(wsh)")
	errKey     = errors.New("has a key that cannot be used: enter public keys, such as xpub6…/<0;1>/*")
	errPrivate = errors.New("contains a private key, which must not be entered anywhere: use the public key of the wallet, and move " +
		"its coins")
	errHardened = errors.New("derives keys in a hardened way behind the public key, which needs the private key: use the public key " +
		"of the account")
	errChains = errors.New("has keys with different numbers of chains, such as <0;1> and 0")
)

// descriptorSum returns the checksum of a descriptor, and an empty text if it has a character that descriptors do not have.
func descriptorSum(text string) string {
	sum := uint64(1)
	add := func(value int) {
		top := sum >> 35
		sum = (sum&0x7ffffffff)<<5 ^ uint64(value)
		for i, generator := range [...]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd} {
			if top>>i&1 == 1 {
				sum ^= generator
			}
		}
	}
	class, classes := 0, 0
	for i := range len(text) {
		value := strings.IndexByte(descriptorDigits, text[i])
		if value < 0 {
			return ""
		}
		add(value & 31)
		class, classes = class*3+value>>5, classes+1
		if classes == 3 {
			add(class)
			class, classes = 0, 0
		}
	}
	if classes > 0 {
		add(class)
	}
	for range descriptorSumSize {
		add(0)
	}
	sum ^= 1
	out := make([]byte, descriptorSumSize)
	for i := range out {
		out[i] = bech32Digits[sum>>(5*(descriptorSumSize-1-i))&31]
	}
	return string(out)
}

// parseDescriptor returns the chains of addresses that a descriptor stands for.
func parseDescriptor(text string) ([]branch, error) {
	body, sum, summed := strings.Cut(text, "#")
	if summed && sum != descriptorSum(body) {
		return nil, errChecksum
	}
	kind := ""
	for {
		name, rest, ok := strings.Cut(body, "(")
		inner, closed := strings.CutSuffix(rest, ")")
		if !ok || !closed {
			break
		}
		kind, body = kind+"/"+name, inner
	}
	threshold, arguments := 0, strings.Split(body, ",")
	if strings.HasSuffix(kind, "multi") {
		var err error
		if threshold, err = strconv.Atoi(arguments[0]); err != nil {
			return nil, errDescriptor
		}
		arguments = arguments[1:]
		inHash := strings.HasPrefix(kind, "/sh/") && !strings.Contains(kind, "/wsh/")
		if threshold < 1 || threshold > len(arguments) || len(arguments) > keysMax || inHash && len(arguments) > keysMaxHash {
			return nil, errDescriptor
		}
	} else if len(arguments) != 1 {
		return nil, errDescriptor
	}
	pay := payment(kind, threshold)
	if pay == nil {
		return nil, errDescriptor
	}
	return branchesOf(arguments, strings.HasPrefix(kind, "/tr"), pay)
}

// pay returns the output that keys can spend.
type pay func(keys []*secp256k1.PublicKey) (output, error)

// payment returns how outputs of a kind are made of keys, and nil for an unknown kind.
func payment(kind string, threshold int) pay {
	sorted := strings.HasSuffix(kind, "/sortedmulti")
	switch strings.Replace(kind, "/sortedmulti", "/multi", 1) {
	case "/pkh":
		return func(keys []*secp256k1.PublicKey) (output, error) {
			return toKeyHash(hash160(keys[0].SerializeCompressed())), nil
		}
	case "/wpkh":
		return func(keys []*secp256k1.PublicKey) (output, error) {
			return toProgram(0, hash160(keys[0].SerializeCompressed())), nil
		}
	case "/sh/wpkh":
		return func(keys []*secp256k1.PublicKey) (output, error) {
			return toScriptHash(hash160(toProgram(0, hash160(keys[0].SerializeCompressed())).script)), nil
		}
	case "/tr":
		return func(keys []*secp256k1.PublicKey) (output, error) { return toTaproot(keys[0]) }
	case "/sh/multi":
		return func(keys []*secp256k1.PublicKey) (output, error) {
			return toScriptHash(hash160(multi(threshold, keys, sorted))), nil
		}
	case "/wsh/multi":
		return func(keys []*secp256k1.PublicKey) (output, error) {
			return toWitness(multi(threshold, keys, sorted)), nil
		}
	case "/sh/wsh/multi":
		return func(keys []*secp256k1.PublicKey) (output, error) {
			return toScriptHash(hash160(toWitness(multi(threshold, keys, sorted)).script)), nil
		}
	}
	return nil
}

// toWitness returns the output for a script.
func toWitness(script []byte) output {
	hash := sha256.Sum256(script)
	return toProgram(0, hash[:])
}

// multi returns the script that demands signatures of some of several keys.
func multi(threshold int, keys []*secp256k1.PublicKey, sorted bool) []byte {
	var all [][]byte
	for _, key := range keys {
		all = append(all, key.SerializeCompressed())
	}
	if sorted {
		slices.SortFunc(all, bytes.Compare)
	}
	script := number(threshold)
	for _, key := range all {
		script = append(append(script, byte(len(key))), key...)
	}
	return append(append(script, number(len(keys))...), opCheckMulti)
}

// number returns the operation that states a number.
func number(n int) []byte {
	if n <= 16 {
		return []byte{opOne - 1 + byte(n)}
	}
	return []byte{1, byte(n)}
}

// path is a key of a descriptor and how keys are derived from it.
type path struct {
	fixed *secp256k1.PublicKey // a key that none is derived from
	key   extended
	steps [][]uint32 // each with its alternatives
	wild  bool       // the index of the address is the last step
}

// parsePath returns a key of a descriptor.
func parsePath(text string, taproot bool) (p path, err error) {
	if origin, rest, ok := strings.Cut(text, "]"); ok {
		if !isOrigin(origin) {
			return p, errKey
		}
		text = rest
	}
	parts := strings.Split(text, "/")
	if data, err := hex.DecodeString(parts[0]); err == nil && len(parts) == 1 {
		point, ok := parsePoint(data)
		if p.fixed = point; !ok || len(data) == evenSize && !taproot {
			return p, errKey
		}
		return p, nil
	}
	version, key, ok := parseExtended(parts[0])
	switch {
	case isPrivate(parts[0]):
		return p, errPrivate
	case !ok || version != xpub || key.point == nil || len(parts) > stepsMax:
		return p, errKey
	}
	p.key = key
	for i, part := range parts[1:] {
		if part == "*" && i == len(parts)-2 {
			p.wild = true
			break
		}
		step, err := parseStep(part)
		if err != nil {
			return p, err
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}

// isOrigin reports whether a text says where a key comes from: a fingerprint and a path. Nothing follows from it.
func isOrigin(text string) bool {
	inner, ok := strings.CutPrefix(text, "[")
	parts := strings.Split(inner, "/")
	data, err := hex.DecodeString(parts[0])
	if !ok || err != nil || len(data) != 4 {
		return false
	}
	return !slices.ContainsFunc(parts[1:], func(part string) bool {
		_, err := strconv.ParseUint(strings.TrimRight(part, "'h"), 10, 31)
		return err != nil || len(part)-len(strings.TrimRight(part, "'h")) > 1
	})
}

// isPrivate reports whether a text is a private key: an extended one, or one in the format for the import into wallets.
func isPrivate(text string) bool {
	payload, ok := decodeBase58(text)
	return ok && (len(payload) == extendedSize && payload[45] == 0 || len(payload) > evenSize && len(payload) < 35 && payload[0] == 0x80)
}

// parseStep returns the alternatives of a step: one number, or several between < and >.
func parseStep(text string) (out []uint32, err error) {
	inner, opened := strings.CutPrefix(text, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	all := strings.Split(inner, ";")
	if opened != closed || opened != (len(all) > 1) || len(all) > branchesMax {
		return nil, errKey
	}
	for _, one := range all {
		if strings.HasSuffix(one, "'") || strings.HasSuffix(one, "h") || strings.HasSuffix(one, "H") {
			return nil, errHardened
		}
		n, err := strconv.ParseUint(one, 10, 31)
		if err != nil || slices.Contains(out, uint32(n)) {
			return nil, errKey
		}
		out = append(out, uint32(n))
	}
	return out, nil
}

// branchesOf returns the chains of addresses of keys.
func branchesOf(arguments []string, taproot bool, pay pay) ([]branch, error) {
	var paths []path
	for _, argument := range arguments {
		p, err := parsePath(argument, taproot)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	chains := 1
	for _, p := range paths {
		many := 0
		for _, step := range p.steps {
			if len(step) > 1 {
				many++
				if chains == 1 {
					chains = len(step)
				}
				if len(step) != chains || many > 1 {
					return nil, errChains
				}
			}
		}
	}
	var out []branch
	for chain := range chains {
		b, err := branchOf(paths, chain, pay)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// branchOf returns one of the chains of addresses of keys.
func branchOf(paths []path, chain int, pay pay) (b branch, err error) {
	parents := make([]extended, len(paths))
	for i, p := range paths {
		parents[i] = p.key
		for _, step := range p.steps {
			index := step[min(chain, len(step)-1)]
			if parents[i], err = parents[i].child(index); err != nil {
				return b, err
			}
		}
		b.ranged = b.ranged || p.wild
	}
	b.at = func(index uint32) (output, error) {
		keys := make([]*secp256k1.PublicKey, len(paths))
		for i, p := range paths {
			switch {
			case p.fixed != nil:
				keys[i] = p.fixed
			case p.wild:
				key, err := parents[i].child(index)
				if err != nil {
					return output{}, err
				}
				keys[i] = key.point
			default:
				keys[i] = parents[i].point
			}
		}
		return pay(keys)
	}
	return b, nil
}
