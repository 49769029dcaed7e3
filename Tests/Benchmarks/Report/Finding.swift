/// One line of the report.
struct Finding {
    /// The name under which the threshold stands.
    let metric: String
    let title: String
    let unit: String
    let ours: Double
    /// The figure that it is compared with, if any.
    let theirs: Double?
    /// The contestant that `theirs` belongs to.
    let rival: String

    init(
        _ metric: String, _ title: String, _ unit: String, _ ours: Double, _ theirs: Double? = nil,
        of rival: String = Finding.standard
    ) {
        self.metric = metric
        self.title = title
        self.unit = unit
        self.ours = ours
        self.theirs = theirs
        self.rival = rival
    }

    static let standard = "HAProxy"

    var ratio: Double? { theirs.flatMap { $0 > 0 ? ours / $0 : nil } }
}
