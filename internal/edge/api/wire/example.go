package wire

import (
	"crypto/sha256"
	"encoding/base32"
)

// ExampleID returns an identifier for examples in the documentation. It is the same on every call and different for each prefix.
func ExampleID(prefix string) string {
	sum := sha256.Sum256([]byte(prefix))
	return prefix + "_01kg9p6je0" + base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").EncodeToString(sum[:10])
}
