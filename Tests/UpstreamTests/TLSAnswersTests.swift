import Authentication
import Bytes
import Credentials
import Crypto
import Model
import Synchronization
import TLS
import TestPolicies
import TestSupport
import Testing

@testable import Upstream

/// The effect of the store on connections with TLS.
@Suite struct TLSAnswersTests {
    private static let origin = Origin(host: "a.example", port: 443, protocol: .https)
    private static let certificateSpace = ProtectionSpace(clientCertificateOf: origin)
    private static let trustSpace = ProtectionSpace(trustOf: "a.example", port: 443)

    private static let exception: Credential = {
        let exception = TrustException(pin: KeyPin(digest: Array(repeating: 7, count: 32)), until: Day(number: 30_000))
        return Credential(name: trustSpace.credentialName(of: "\(exception.pin)"), trust: exception)
    }()

    private static func certificate() throws -> Credential {
        let identity = try Identity(certificate: .content(Secret(TestPEM.server)))
        return Credential(name: certificateSpace.credentialName(of: "device"), identity: identity)
    }

    @Test func `a server gets what is stored for it, and nothing that is not`() async throws {
        let storage = StoredCredentials()
        let answers = TLSPolicyEpoch(stored: storage)
        let pool = IdlePool(limit: 8, tlsPolicyEpoch: answers)
        let rules = try policy().rules
        let trusted = UpstreamServer(Self.origin, pool: pool)
        let stranger = UpstreamServer(Self.origin, mayHaveCredentials: false, pool: pool)
        let look = {
            answers.advance()
            return [trusted, stranger].map { [$0.maySeeIdentity(by: rules), $0.dependsOnTLSPolicy(by: rules)] }
        }
        #expect(look() == [[false, false], [false, false]])
        try await storage.set(Self.exception, for: Self.trustSpace)
        #expect(look() == [[false, true], [false, true]])
        try await storage.set(try Self.certificate(), for: Self.certificateSpace)
        #expect(look() == [[true, true], [false, true]], "a server that nobody vouches for sees no certificate")
        try await storage.remove(user: "device", for: Self.certificateSpace)
        #expect(look() == [[false, true], [false, true]])
    }

    @Test(arguments: [true, false])
    func `a change of a stored certificate or exception ends the connections of before`(isException: Bool) async throws
    {
        let storage = StoredCredentials()
        let shared = SharedState(storage: storage) { _ in }
        let retired = Mutex(0)
        shared.onRetirement { retirement in
            if case .tlsPolicyEpoch = retirement { retired.withLock { $0 += 1 } }
        }
        let before = shared.tlsPolicyEpoch.number
        let following = Task { await shared.followStorage() }
        defer { following.cancel() }
        while retired.withLock({ $0 }) == 0 {
            // The first may come before anybody follows.
            if isException {
                try await storage.set(Self.exception, for: Self.trustSpace)
            } else {
                try await storage.set(try Self.certificate(), for: Self.certificateSpace)
            }
            await Task.yield()
        }
        #expect(shared.tlsPolicyEpoch.number > before)
    }

    @Test func `a certificate that is refused or lifted ends the connections of before, and a password does not`()
        throws
    {
        let shared = SharedState(storage: StoredCredentials()) { _ in }
        let accounts = shared.spaces.accounts
        let password = Credential(name: "p", user: "p", password: Secret("p"))
        let device = try Self.certificate()
        let isEnd = { (change: () -> Void) in
            let before = shared.tlsPolicyEpoch.number
            change()
            return shared.tlsPolicyEpoch.number != before
        }
        #expect(!isEnd { accounts.putOnHold(password, at: Self.origin) })
        #expect(isEnd { accounts.putOnHold(device, at: Self.origin) })
        #expect(!isEnd { accounts.reset(at: 0) { version, _ in version == password.version } })
        #expect(isEnd { accounts.reset(at: 0) { version, _ in version == device.version } })
    }
}
