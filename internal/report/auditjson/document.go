package auditjson

// Document is the whole output. Price may be null; lists never are.
type Document struct {
	Schema   string    `json:"schema"`
	Version  string    `json:"version"`
	Run      string    `json:"run"`
	Sources  []Source  `json:"sources"`
	Storages []string  `json:"storages"`
	Skipped  []Skipped `json:"skipped"`
	Unknown  []Unknown `json:"unknown"`
	Faults   []string  `json:"faults"`
	Findings []Finding `json:"findings"`
}

// Source is a configuration that was read.
type Source struct {
	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	Machines []Machine `json:"machines"`
}

// Machine is a machine, or a part of one.
type Machine struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`
	Part    string   `json:"part"`
	Line    int      `json:"line"`
	Audited bool     `json:"audited"`
	Disks   []string `json:"disks"`
}

// Skipped is a file that was not read.
type Skipped struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Unknown is something that was not understood.
type Unknown struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Finding is a rule that fired.
type Finding struct {
	Rule      string   `json:"rule"`
	Title     string   `json:"title"`
	Severity  string   `json:"severity"`
	Kind      string   `json:"kind"`
	VM        string   `json:"vm"`
	Part      string   `json:"part"`
	Disk      string   `json:"disk"`
	Setting   string   `json:"setting"`
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Effective string   `json:"effective"`
	Default   string   `json:"default"`
	Why       string   `json:"why"`
	Volume    string   `json:"volume"`
	Changes   []Change `json:"changes"`
	Diff      string   `json:"diff"`
	Refused   string   `json:"refused"`
	Commands  []string `json:"commands"`
	QM        string   `json:"qm"`
	Needs     []string `json:"needs"`
	Guests    string   `json:"guests"`
	Restart   string   `json:"restart"`
	Price     *Price   `json:"price"`
}

// Change is one setting to be made.
type Change struct {
	Disk    string `json:"disk"`
	Setting string `json:"setting"`
	Value   string `json:"value"`
}

// Price is what a run of this host measured.
type Price struct {
	Ratio       float64 `json:"ratio"`
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Metric      string  `json:"metric"`
	Workload    string  `json:"workload"`
	Run         string  `json:"run"`
	From        string  `json:"from"`
	To          string  `json:"to"`
	Accelerator string  `json:"accelerator"`
}

// Catalogue is the rules.
type Catalogue struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Rules   []Rule `json:"rules"`
}

// Rule is one of them.
type Rule struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Severity string   `json:"severity"`
	Looks    string   `json:"looks"`
	Why      string   `json:"why"`
	Sources  []string `json:"sources"`
	Guests   string   `json:"guests"`
	Restart  string   `json:"restart"`
}
