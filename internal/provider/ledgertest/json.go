package ledgertest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// JSON answers with a document of JSON.
func JSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint("ledgertest: ", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the connector has hung up
}
