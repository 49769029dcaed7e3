import Testing

/// A server of the zoo: what it shows, and what an evaluation has to find in it.
struct Specimen: Sendable, CustomTestStringConvertible {
    typealias Making = @Sendable (Hierarchy, CertificateTerms) throws -> ServerIdentity

    let name: String
    let host: String
    /// The words of all findings when `Hierarchy.root` is the only anchor, in alphabetical order.
    let findings: [String]
    let demand: Demand
    /// Speaks HTTP/2 as well.
    let offersHTTP2: Bool
    private let making: Making

    /// - Parameter host: if it is not the name below `example.test`.
    init(
        _ name: String, host: String? = nil, findings: [String] = [], offersHTTP2: Bool = false,
        demand: Demand = .nothing,
        _ making: @escaping Making = { try ServerIdentity($0.issuing.issue($1)) }
    ) {
        self.name = name
        self.host = host ?? "\(name).example.test"
        self.findings = findings
        self.demand = demand
        self.offersHTTP2 = offersHTTP2
        self.making = making
    }

    var testDescription: String { name }

    func identity() throws -> ServerIdentity { try making(Hierarchy.shared(), CertificateTerms(host: host)) }

    static let all = judged + outdated + gatekeepers
    /// The specimens that are judged by their certificate alone.
    static let judged = trustworthy + chains + dates + names + weaknesses + revocations + mixtures

    static subscript(name: String) -> Specimen {
        get throws {
            let found = all.first { $0.name == name }
            return try #require(found, "no specimen is called \(name)")
        }
    }
}
