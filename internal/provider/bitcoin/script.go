package bitcoin

import (
	"crypto/sha256"

	//lint:ignore SA1019 addresses of Bitcoin are made with this hash
	"golang.org/x/crypto/ripemd160"
)

// The operations that scripts of addresses consist of.
const (
	opZero        = 0x00
	opOne         = 0x51
	opDup         = 0x76
	opEqual       = 0x87
	opEqualVerify = 0x88
	opHash160     = 0xa9
	opCheckSig    = 0xac
	opCheckMulti  = 0xae
)

// The first bytes of addresses in Base58Check.
const (
	versionKey    = 0x00
	versionScript = 0x05
)

// hash160 returns the hash that addresses contain.
func hash160(data []byte) []byte {
	first := sha256.Sum256(data)
	second := ripemd160.New()
	second.Write(first[:])
	return second.Sum(nil)
}

// output is where coins are sent to: a script, and its address.
type output struct {
	script  []byte
	address string
}

// toKeyHash returns the output for the hash of a public key.
func toKeyHash(hash []byte) output {
	script := append([]byte{opDup, opHash160, byte(len(hash))}, hash...)
	return output{append(script, opEqualVerify, opCheckSig), encodeBase58(append([]byte{versionKey}, hash...))}
}

// toScriptHash returns the output for the hash of a script.
func toScriptHash(hash []byte) output {
	script := append([]byte{opHash160, byte(len(hash))}, hash...)
	return output{append(script, opEqual), encodeBase58(append([]byte{versionScript}, hash...))}
}

// toProgram returns the output for a witness program.
func toProgram(version byte, program []byte) output {
	op := byte(opZero)
	if version > 0 {
		op = opOne - 1 + version
	}
	return output{append([]byte{op, byte(len(program))}, program...), encodeSegwit(version, program)}
}

// toAddress returns the output for an address of the main network.
func toAddress(text string) (output, bool) {
	if version, program, ok := decodeSegwit(text); ok {
		return toProgram(version, program), true
	}
	payload, ok := decodeBase58(text)
	if !ok || len(payload) != 1+ripemd160.Size {
		return output{}, false
	}
	switch payload[0] {
	case versionKey:
		return toKeyHash(payload[1:]), true
	case versionScript:
		return toScriptHash(payload[1:]), true
	}
	return output{}, false
}
