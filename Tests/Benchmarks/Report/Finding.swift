/// One line of the report.
struct Finding {
    /// The name under which the threshold stands.
    let metric: String
    let title: String
    let unit: String
    let ours: Double
    /// HAProxy's figure, where there is one.
    let theirs: Double?

    init(_ metric: String, _ title: String, _ unit: String, _ ours: Double, _ theirs: Double? = nil) {
        self.metric = metric
        self.title = title
        self.unit = unit
        self.ours = ours
        self.theirs = theirs
    }

    var ratio: Double? { theirs.flatMap { $0 > 0 ? ours / $0 : nil } }
}
