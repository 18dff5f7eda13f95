package stats

// A Residue says what acquires have left behind whose contexts ended.
type Residue struct {
	Ended    int `json:"ended"`    // acquires whose contexts ended first
	Left     int `json:"left"`     // locks of these that were taken afterwards, or had a contender
	Acquired int `json:"acquired"` // acquires that were quicker than their contexts, and were released
}
