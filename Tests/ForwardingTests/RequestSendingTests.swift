import Bytes
import Credentials
import DNS
import HTTP
import IO
import Model
import TestPolicies
import TestSupport
import Testing
import Transport

@testable import Forwarding
@testable import Upstream

struct RequestSendingTests {
    /// A request that a rule has signed.
    private struct Signed {
        let context: ForwardingContext
        private let far: Socket

        init(signingContent: Bool, length: Int, on loop: EventLoop) async throws {
            let key = SignatureSource.AWS(
                region: "r", service: "s",
                keys: .values(
                    access: .literal(RedactedText("a")), secret: .literal(RedactedText("b")), token: nil),
                signsPayload: signingContent)
            let rules = try policy(
                "credential key { aws r s; access-key a; secret-key b }\nchallenge { host a.example; use key }",
                identities: [ConfiguredCredential(name: "key", content: .signature(.aws(key)))])
            let upstreams = Upstreams(
                policy: rules, shared: sharedState(), on: loop, in: SystemNetwork(Resolver(on: loop), on: loop),
                idleLimit: 1)
            let (near, far) = try await connectedPair(on: loop)
            self.far = far
            let downstream = Downstream(ByteStream(near), at: IPAddress(v4: 0x7F00_0001), over: upstreams)
            let exchange = Forwarding(policy: rules, on: loop).exchange
            exchange.headBytes.append("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n" as StaticString)
            _ = try exchange.request.parse(exchange.headBytes)
            exchange.body.begin(.length(length), limits: .request)
            context = ForwardingContext(
                downstream: downstream, exchange: exchange,
                destination: upstreams.destination(.http, host: "a.example".utf8Span.span, port: 80, by: rules.rules))
            exchange.credentials.signing = try context.signing()
            try #require(exchange.credentials.signing != nil)
        }
    }

    @Test(arguments: [(true, 4, true), (true, 0, false), (false, 4, false), (false, 0, false)])
    func `a request waits for the digest of its content where the signature is made over it`(
        signsContent: Bool, length: Int, waits: Bool
    ) async throws {
        let found = try await onLoop { loop in
            let signed = try await Signed(signingContent: signsContent, length: length, on: loop)
            return RequestSending().wantsPreparation(signed.context)
        }
        #expect(found == waits)
    }
}
