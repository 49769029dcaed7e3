import Bytes
import Crypto
import Model
import Synchronization
import Testing

@testable import Authentication

/// The messages of a Negotiate login, with made-up tickets.
struct NegotiateSchemeTests {
    /// A principal whose logins say what a test wants.
    private final class Principal: KerberosPrincipal {
        var ticketEnd: WallTime? { nil }
        var kdc: String? { nil }
        func forgetRefusal() {}
        let error: TicketError?
        let step: KerberosStep
        let latest = Mutex(WeakLogin())

        init(error: TicketError? = nil, step: KerberosStep = .established) {
            self.error = error
            self.step = step
        }

        func prepare(for service: KerberosService) async throws(TicketError) { if let error { throw error } }

        func login(at service: KerberosService, over channel: ChannelBinding?) -> any KerberosLogin {
            let first = Array("\(service.name) \(channel?.applicationData.count ?? 0)".utf8)
            let login = Login(first: first, error: error, step: step)
            latest.withLock { $0.login = login }
            return login
        }
    }

    private struct WeakLogin: @unchecked Sendable {
        weak var login: Login?
    }

    private final class Login: KerberosLogin {
        let first: [UInt8]
        let error: TicketError?
        let step: KerberosStep

        init(first: [UInt8], error: TicketError?, step: KerberosStep) {
            self.first = first
            self.error = error
            self.step = step
        }

        func begin() async throws(TicketError) -> [UInt8] {
            if let error { throw error }
            return first
        }

        func answer(_ token: [UInt8]) -> KerberosStep { step }
        func renounceTicket() -> Bool { false }
    }

    private func connections(_ principal: Principal) throws -> any ConnectionAuthenticator {
        let space = ProtectionSpace(
            origin: Origin(host: "WWW.example.test", port: 8080, protocol: .http), realm: nil,
            authenticationMethod: .negotiate)
        let authenticator = try NegotiateScheme().authenticator(
            for: HeaderChallenge(scheme: "negotiate"), in: space, at: "/".utf8Span.span,
            with: Credential(name: "svc", principal: principal, fingerprint: 1))
        guard case .connection(let connections) = authenticator.binding else {
            throw AuthenticationError.unusableChallenge(method: .negotiate)
        }
        return connections
    }

    /// The token that goes out.
    private func said(_ context: any SecurityContext) async throws -> String {
        try await context.prepare()
        let value = ByteBuffer(capacity: 64)
        try context.authorize(at: 0, into: value)
        let text = value.readable.text
        #expect(text.hasPrefix("Negotiate "))
        return try #require(Base64.decode(text.dropFirst(10)).map { String(decoding: $0, as: UTF8.self) })
    }

    private static let challenge = [HeaderChallenge(scheme: "basic"), HeaderChallenge(scheme: "negotiate")]
    private static let answer = [HeaderChallenge(scheme: "negotiate", token68: "AAAA")]

    @Test func `the service is HTTP at the host, without a port, or the one that a rule names`() async throws {
        let connections = try connections(Principal())
        #expect(try await said(connections.makeContext(over: nil, under: LoginTerms())) == "HTTP/www.example.test 0")
        let terms = LoginTerms(servicePrincipal: "HTTP/other@REALM")
        let channel = ChannelBinding(tlsServerEndPoint: [1, 2, 3])
        #expect(try await said(connections.makeContext(over: channel, under: terms)) == "HTTP/other@REALM 24")
    }

    @Test func `a server that forgets logins is remembered, on all connections`() async throws {
        let connections = try connections(Principal())
        let (one, two) = (
            connections.makeContext(over: nil, under: LoginTerms()),
            connections.makeContext(over: nil, under: LoginTerms())
        )
        _ = try await said(one)
        #expect(one.accepted(by: Self.answer, persists: true) == .verified)
        #expect(one.isEstablished)
        #expect(one.refused(by: Self.challenge) == .retry)
        _ = try await said(one)
        #expect(one.accepted(by: [], persists: true) == .unverified)
        #expect(!one.isEstablished && one.isAtRest)
        _ = try await said(two)
        #expect(two.accepted(by: Self.answer, persists: true) == .verified)
        #expect(!two.isEstablished && two.isAtRest)
    }

    @Test(arguments: [true, false])
    func `a login that is over lets go of its tickets`(persists: Bool) async throws {
        let principal = Principal()
        let context = try connections(principal).makeContext(over: nil, under: LoginTerms())
        _ = try await said(context)
        #expect(principal.latest.withLock { $0.login != nil })
        #expect(context.accepted(by: Self.answer, persists: persists) == .verified)
        #expect(principal.latest.withLock { $0.login == nil })
    }

    @Test(arguments: [
        (TicketError.unavailable("the KDC is away"), RepeatedChallenge.aborted),
        (.refused("a wrong password"), .refused),
    ])
    func `a missing ticket is told from a refused password`(error: TicketError, refusal: RepeatedChallenge) async throws
    {
        let connections = try connections(Principal(error: error))
        let thrown = await #expect(throws: AuthenticationError.self) {
            try await connections.prepare(under: LoginTerms())
        }
        #expect(thrown?.refusal == refusal)
        #expect(thrown?.description == "credential svc has no ticket for HTTP/www.example.test: \(error)")
    }

    @Test(arguments: [
        (KerberosStep.continue([1]), RepeatedChallenge.proceed), (.established, .denied), (.failed, .denied),
        (.clockSkew, .aborted),
    ])
    func `a token in a refusal goes on or ends it`(step: KerberosStep, refusal: RepeatedChallenge) async throws {
        let context = try connections(Principal(step: step)).makeContext(over: nil, under: LoginTerms())
        _ = try await said(context)
        #expect(context.refused(by: Self.answer) == refusal)
        #expect(!context.isAtRest)
        let isSkewed = step == .clockSkew
        #expect(context.trouble == (isSkewed ? .clockSkew(credential: "svc", service: "HTTP/www.example.test") : nil))
    }

    @Test func `a password without a KDC is no principal`() {
        #expect(throws: AuthenticationError.unsuitableCredential(credential: "ci", method: .negotiate)) {
            try NegotiateScheme().authenticator(
                for: HeaderChallenge(scheme: "negotiate"),
                in: ProtectionSpace(
                    origin: Origin(host: "h", port: 80, protocol: .http), realm: nil, authenticationMethod: .negotiate),
                at: "/".utf8Span.span, with: Credential(name: "ci", user: "u", password: Secret("p")))
        }
    }
}
