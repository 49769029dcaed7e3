import Admin
import Authentication
import Credentials
import IO
import Model
import Rules
import Synchronization
import TLS
import Upstream

/// Checks servers' certificates as `attache trust` does, for the dashboard of this process.
final class RunningCertificates: CertificateLook.Desk {
    private struct Record {
        var look: CertificateLook
        var opinion: TrustOpinion?
    }

    private let records = Mutex<[Record]>([])
    private let shared: SharedState
    private let loop: EventLoop
    private let hasStore: @Sendable () -> Bool
    private let judging: @Sendable () -> (rules: RuleSet, trust: TrustSources)

    /// The limits of stored checks, and of those in progress.
    private static let limit = 16
    private static let pendingLimit = 4

    /// - Parameters:
    ///   - hasStore: whether exceptions outlive the process.
    ///   - judging: the current rules, and the sources of trust.
    init(
        _ shared: SharedState, on loop: EventLoop, hasStore: @escaping @Sendable () -> Bool,
        judging: @escaping @Sendable () -> (rules: RuleSet, trust: TrustSources)
    ) {
        self.shared = shared
        self.loop = loop
        self.hasStore = hasStore
        self.judging = judging
    }

    var looks: [CertificateLook] { records.withLock { $0.map(\.look) } }

    func look(at host: String, port: UInt16) {
        let look = CertificateLook(host: host, port: port, time: SystemClock.wallTime)
        let hasRoom = records.withLock { records in
            guard records.count(where: \.look.isPending) < Self.pendingLimit else { return false }
            records.removeAll { $0.look.host == host && $0.look.port == port }
            records.insert(Record(look: look), at: 0)
            if records.count > Self.limit { records.removeLast() }
            return true
        }
        guard hasRoom else { return }
        loop.spawn { [self, loop] in
            let (rules, trust) = judging()
            await trust.prepare()
            let probe = TrustProbe(
                host: host, port: port, rules: rules, trust: trust,
                exceptions: shared.storage.trustExceptions(for: host, port: port))
            do throws(TrustProbe.Failure) {
                let opinion = try await probe.ask(at: SystemClock.wallTime, on: loop)
                finish(look, .seen(CertificateLook.Seen(opinion)), opinion)
            } catch { finish(look, .failed("\(error)"), nil) }
        }
    }

    private func finish(_ look: CertificateLook, _ outcome: CertificateLook.Outcome, _ opinion: TrustOpinion?) {
        records.withLock { records in
            guard
                let known = records.firstIndex(where: { $0.look.host == look.host && $0.look.port == look.port })
            else { return }
            records[known].look.outcome = outcome
            records[known].opinion = opinion
        }
    }

    func accept(_ pin: String, of host: String, port: UInt16, until day: Day) -> DeskAnswer {
        if day < .today { return .refused("\(day) is in the past") }
        let opinion = records.withLock { records in
            records.first { $0.look.host == host && $0.look.port == port }?.opinion
        }
        guard let opinion, pin == "\(opinion.chain.leaf.publicKeyPin)" else {
            return .refused("the server has not shown that key: reload the page and try again")
        }
        guard opinion.isTrustedByException || !opinion.isTrusted else { return .refused("no exception is needed") }
        guard opinion.wouldBeExcepted else { return .refused("no exception forgives that") }
        let space = ProtectionSpace(trustOf: host, port: port)
        let exception = TrustException(pin: opinion.chain.leaf.publicKeyPin, until: day)
        let credential = Credential(
            name: space.credentialName(of: pin), trust: exception, persistence: .permanent)
        loop.spawn { [self] in
            do throws(StoredCredentials.Failure) {
                try await shared.storage.set(credential, for: space)
                shared.audit.note(
                    AuditEvent(.trustSet, by: .dashboard, space, credential: pin, details: "until \(day)"))
                look(at: host, port: port)
            } catch { shared.report("cannot store the exception for \(host):\(port): \(error)") }
        }
        return .done(
            hasStore()
                ? "this key is trusted until \(day)"
                : "this key is trusted until the proxy stops, at most until \(day): there is no credential store to save it in"
        )
    }
}

extension CertificateLook {
    fileprivate var isPending: Bool { if case .pending = outcome { true } else { false } }
}

extension CertificateLook.Seen {
    fileprivate init(_ opinion: TrustOpinion) {
        self.init()
        certificates = ([opinion.chain.leaf] + opinion.chain.others).enumerated().map { index, certificate in
            (name: "\(certificate)", facts: certificate.facts(isLeaf: index == 0))
        }
        findings = (opinion.evaluationOnTerms ?? opinion.evaluation).findings.map { "\($0)" }
        isTrusted = opinion.isTrusted
        sentence = [opinion.sentence, opinion.unlisted, opinion.isTrusted ? nil : opinion.doubt].compactMap(\.self)
            .joined(separator: " ")
        pin = "\(opinion.chain.leaf.publicKeyPin)"
        mayBeAccepted = opinion.wouldBeExcepted && (opinion.isTrustedByException || !opinion.isTrusted)
        suggestion = opinion.isTrusted ? nil : opinion.suggestion?.text
    }
}

extension Certificate {
    /// The facts for a person who decides about trust. The names are those of the server's own certificate; empty if
    /// it has none.
    func facts(isLeaf: Bool) -> [(name: String, value: String)] {
        var facts: [(name: String, value: String)] = [
            ("issued by", issuer.map { "\($0)" } ?? "an issuer without a name"),
            ("valid", "from \(firstDay) to \(lastDay)"), ("key pin", "\(publicKeyPin)"), ("SHA-256", fingerprint),
        ]
        if isLeaf {
            let names = subjectAlternativeNames
            let more = names.count > Self.nameLimit ? " and \(names.count - Self.nameLimit) more" : ""
            facts.insert(("names", names.prefix(Self.nameLimit).map { "\($0)" }.joined(separator: " ") + more), at: 0)
        }
        return facts
    }

    /// The limit of names that are shown: a certificate may have thousands.
    private static var nameLimit: Int { 20 }
}
