import Testing

/// A server of the zoo: what it shows, and what an evaluation has to find in it.
struct Specimen: Sendable, CustomTestStringConvertible {
    typealias Making = @Sendable (Hierarchy, CertificateTerms) throws -> ServerIdentity

    let name: String
    let host: String
    /// The words of all findings when `Hierarchy.root` is the only anchor, in alphabetical order.
    let findings: [String]
    /// More directives for its nginx server.
    let directives: String
    private let making: Making

    /// - Parameter host: if it is not the name below `example.test`.
    init(
        _ name: String, host: String? = nil, findings: [String] = [], directives: String = "",
        _ making: @escaping Making = { try ServerIdentity($0.issuing.issue($1)) }
    ) {
        self.name = name
        self.host = host ?? "\(name).example.test"
        self.findings = findings
        self.directives = directives
        self.making = making
    }

    var testDescription: String { name }

    func identity() throws -> ServerIdentity { try making(Hierarchy.shared(), CertificateTerms(host: host)) }

    static let all = trustworthy + chains + dates + names + weaknesses + revocations + mixtures

    static subscript(name: String) -> Specimen {
        get throws {
            let found = all.first { $0.name == name }
            return try #require(found, "no specimen is called \(name)")
        }
    }
}
