// Package measure says what is held at the end of a period is carried at, and what has to be booked for it: fair
// value (ASU 2023-08), revaluation (IAS 38), cost less impairment, and foreign money at the closing rate. The cost of
// what is held is never touched: an adjustment beside it carries it to its value. Disposals are booked against cost,
// so what an adjustment had foreseen of them is taken back here.
package measure
