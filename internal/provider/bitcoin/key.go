package bitcoin

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

const (
	extendedSize = 78
	chainSize    = 32
	// hardened is the first index whose key can only be derived with the private key.
	hardened = 1 << 31
)

// The versions of extended public keys of the main network: BIP32, BIP49 and BIP84.
const (
	xpub = 0x0488b21e
	ypub = 0x049d7cb2
	zpub = 0x04b24746
)

var errDerive = errors.New("there is no key with this index")

// extended is a public key that others are derived from.
type extended struct {
	chain []byte
	point *secp256k1.PublicKey
}

// parseExtended returns an extended public key and its version. A private key has a version of its own, and no point.
func parseExtended(text string) (version uint32, key extended, ok bool) {
	payload, ok := decodeBase58(text)
	if !ok || len(payload) != extendedSize {
		return 0, key, false
	}
	point, err := secp256k1.ParsePubKey(payload[extendedSize-secp256k1.PubKeyBytesLenCompressed:])
	if err == nil {
		key = extended{bytes.Clone(payload[13 : 13+chainSize]), point}
	}
	return binary.BigEndian.Uint32(payload), key, true
}

// child returns the key with an index, by BIP32.
func (k extended) child(index uint32) (extended, error) {
	sum := k.derive(index)
	point, ok := plus(k.point, sum[:sha256.Size])
	if !ok || index >= hardened {
		return extended{}, errDerive
	}
	return extended{sum[sha256.Size:], point}, nil
}

// derive returns by how much the key with an index differs, and behind it the chain code of that key.
func (k extended) derive(index uint32) []byte {
	mac := hmac.New(sha512.New, k.chain)
	mac.Write(k.point.SerializeCompressed())
	mac.Write(binary.BigEndian.AppendUint32(nil, index))
	return mac.Sum(nil)
}

// plus returns the sum of a point and a multiple of the generator.
func plus(point *secp256k1.PublicKey, factor []byte) (*secp256k1.PublicKey, bool) {
	var scalar secp256k1.ModNScalar
	if scalar.SetByteSlice(factor) {
		return nil, false
	}
	var one, other, sum secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(&scalar, &one)
	point.AsJacobian(&other)
	secp256k1.AddNonConst(&one, &other, &sum)
	if sum.Z.IsZero() {
		return nil, false
	}
	sum.ToAffine()
	return secp256k1.NewPublicKey(&sum.X, &sum.Y), true
}

// evenSize is the size of a public key without the parity of its second coordinate.
const evenSize = 32

// parsePoint returns a public key of 33 bytes, or of 32 bytes for the point of the two whose second coordinate is even.
func parsePoint(data []byte) (*secp256k1.PublicKey, bool) {
	if len(data) == evenSize {
		data = append([]byte{secp256k1.PubKeyFormatCompressedEven}, data...)
	}
	if len(data) != secp256k1.PubKeyBytesLenCompressed {
		return nil, false
	}
	point, err := secp256k1.ParsePubKey(data)
	return point, err == nil
}

// toTaproot returns the output that only a key can spend, by BIP341 and BIP86.
func toTaproot(key *secp256k1.PublicKey) (output, error) {
	inner := key.SerializeCompressed()[1:]
	even, ok := parsePoint(inner)
	if !ok {
		return output{}, errDerive
	}
	tag := sha256.Sum256([]byte("TapTweak"))
	tweak := sha256.Sum256(append(append(tag[:], tag[:]...), inner...))
	point, ok := plus(even, tweak[:])
	if !ok {
		return output{}, errDerive
	}
	return toProgram(1, point.SerializeCompressed()[1:]), nil
}
