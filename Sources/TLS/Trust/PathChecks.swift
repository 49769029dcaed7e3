import Bytes
import COpenSSL
import Model

/// The checks that OpenSSL's path validation omits.
struct PathChecks {
    private(set) var findings: [TrustEvaluation.Finding] = []

    init(_ chain: PresentedChain, _ name: ServerName, _ verification: PathVerification, _ time: WallTime) {
        if chain.omitted > 0 {
            add(.invalid, "the server sent \(chain.others.count + 1 + chain.omitted) certificates, which is too many")
        }
        check(name, chain.leaf, verification)
        if !chain.leaf.allows(chain.keyExchange) {
            let use = chain.keyExchange == .signed ? "sign the handshake" : "encrypt the handshake's secret"
            add(.wrongUsage, "the key usage of \(chain.leaf) does not allow it to \(use)")
        }
        if !verification.isAnchored { checkEnd(verification.path, chain.others) }
        checkStaple(chain, verification.path, time)
    }

    private mutating func add(_ kind: TrustFinding, _ detail: String) {
        findings.append(TrustEvaluation.Finding(kind: kind, detail: detail))
    }

    private mutating func check(_ name: ServerName, _ leaf: Certificate, _ verification: PathVerification) {
        guard Certificate.Names.speak(for: name, in: leaf) else {
            add(.wrongName, Complaint.FindingWords.wrongName(name, leaf))
            return
        }
        guard case .host(let host) = name else { return }
        for authority in verification.path.dropFirst()
        where Certificate.Names.ExcludedHost.isExcluded(host, by: authority) {
            add(.nameConstraints, "\(authority) excludes \(host)")
        }
    }

    /// OpenSSL verifies no signature of the last certificate of a path, since a root needs none.
    private mutating func checkEnd(_ path: [Certificate], _ others: [Certificate]) {
        guard let last = path.last else { return }
        let involved = [last] + others.filter { $0.isNamed(asIssuerOf: last) }
        for damaged in involved where damaged.hasUnreadableExtension {
            add(.invalid, Complaint.FindingWords.unreadableExtension(damaged))
        }
        if last.hasLongExponent { return }
        if last.seemsSelfSigned {
            if !last.isSelfSigned { add(.invalid, "the signature of \(last) does not match its own key") }
            return
        }
        switch SignatureStrength(last) {
        case .unknown: add(.invalid, "\(last) is signed with an unknown algorithm")
        case .bits(let bits):
            if bits < SignatureStrength.enough { add(.weakSignature, Complaint.FindingWords.weakSignature(last)) }
        }
    }

    /// A CA with the extension passes the requirement on to its certificates (RFC 7633 section 4.2.2).
    private mutating func checkStaple(_ chain: PresentedChain, _ path: [Certificate], _ time: WallTime) {
        let demanding = ([chain.leaf] + path.dropFirst().dropLast()).first { $0.demandsStaple }
        guard let issuer = path.count > 1 ? path[1] : chain.leaf.seemsSelfSigned ? chain.leaf : nil else {
            if let demanding {
                let what = chain.staple == nil ? "none came" : "the one that came cannot be checked without its issuer"
                add(.missingStaple, "\(demanding) requires a stapled OCSP response, and \(what)")
            }
            return
        }
        switch StapledResponse.read(chain.staple, of: chain.leaf, issuedBy: issuer, at: time) {
        case .good: break
        case .revoked(let date, let reason): add(.revoked, Complaint.FindingWords.revoked(chain.leaf, date, reason))
        case .unusable(let why): add(.missingStaple, "the stapled response for \(chain.leaf) \(why)")
        case .absent:
            if let demanding {
                add(.missingStaple, "\(demanding) requires a stapled OCSP response, and the server sent none")
            }
        }
    }
}
