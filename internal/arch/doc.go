// Package arch holds no code, only tests of the shape of this module: which layer may import which, what may be imported
// and called where, how long a file and a function may grow. Every rule tells why it exists when it is broken.
package arch
