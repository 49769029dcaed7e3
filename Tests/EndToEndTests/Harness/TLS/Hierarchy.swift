import Foundation

/// The authorities of the tests, made once per run.
struct Hierarchy: Sendable {
    private static let made = Result { try Hierarchy() }

    static func shared() throws -> Hierarchy { try made.get() }

    /// The one that a proxy of the tests takes for the system's.
    let root: CertificateIssuer
    /// Makes most certificates; may make no authority (path length 0).
    let issuing: CertificateIssuer
    /// Made by `issuing` nevertheless.
    let tooDeep: CertificateIssuer
    /// A CA below `root` that may issue for `inside.test` only.
    let constrained: CertificateIssuer
    /// A CA below `root` that has expired.
    let expired: CertificateIssuer
    /// A CA that is trusted only if a rule says so.
    let elsewhere: CertificateIssuer
    let elsewhereIssuing: CertificateIssuer

    private init() throws {
        let authority = { (name: String) in
            CertificateTerms(name: name, purpose: .authority(pathLength: 0)).with { $0.days = -300...3_000 }
        }
        root = try CertificateIssuer(root: "Zoo Root")
        issuing = try CertificateIssuer(authority("Zoo Issuing"), below: root)
        tooDeep = try CertificateIssuer(authority("Zoo Too Deep"), below: issuing)
        let constraints = "nameConstraints = critical,permitted;DNS:inside.test"
        constrained = try CertificateIssuer(
            authority("Zoo Constrained").with { $0.extensions = [constraints] }, below: root)
        expired = try CertificateIssuer(authority("Zoo Expired").with { $0.days = -300 ... -2 }, below: root)
        elsewhere = try CertificateIssuer(root: "Elsewhere Root")
        elsewhereIssuing = try CertificateIssuer(authority("Elsewhere Issuing"), below: elsewhere)
    }
}
