import Testing

@testable import Authentication

/// The order of a Negotiate login's tokens, event by event.
struct NegotiateHandshakeTests {
    private static let first: [UInt8] = [1]
    private static let second: [UInt8] = [2]

    /// An event in a handshake, and its expected result.
    enum Event: Sendable {
        case begun
        case sends([UInt8]?)
        case refused(KerberosStep?, mayRetry: Bool, RepeatedChallenge)
        case lost(isOffered: Bool, RepeatedChallenge)
        case accepted(KerberosStep?, persists: Bool, Acceptance)
    }

    @Test(
        arguments: [
            (
                "one token logs the connection in",
                [.begun, .sends(first), .accepted(.established, persists: true, .verified), .sends(nil)], .established
            ),
            (
                "a server without a last token proves nothing",
                [.begun, .sends(first), .accepted(nil, persists: true, .unverified)], .established
            ),
            (
                "a login that does not last is begun again",
                [
                    .begun, .sends(first), .accepted(.established, persists: false, .verified), .begun, .sends(first),
                    .accepted(nil, persists: false, .unverified),
                ], .unbegun
            ),
            (
                "several legs",
                [
                    .begun, .sends(first), .refused(.continue(second), mayRetry: false, .proceed), .sends(second),
                    .accepted(.established, persists: true, .verified),
                ], .established
            ),
            (
                "a last token in a refusal ends it",
                [.begun, .sends(first), .refused(.established, mayRetry: true, .denied), .sends(nil), .begun], .failed
            ),
            (
                "a bare challenge in return ends it",
                [.begun, .sends(first), .refused(nil, mayRetry: false, .denied), .sends(nil)], .failed
            ),
            (
                "an old ticket that is not taken is replaced",
                [.begun, .sends(first), .refused(nil, mayRetry: true, .retry), .begun, .sends(first)], .awaitingVerdict
            ),
            (
                "a last token that proves nothing is another server's",
                [.begun, .sends(first), .accepted(.failed, persists: true, .mismatch), .sends(nil)], .failed
            ),
            (
                "a login that was lost is made again",
                [
                    .begun, .sends(first), .accepted(nil, persists: true, .unverified), .lost(isOffered: true, .retry),
                    .begun, .sends(first),
                ], .awaitingVerdict
            ),
            (
                "a challenge by other means is none of ours",
                [
                    .begun, .sends(first), .accepted(nil, persists: true, .unverified),
                    .lost(isOffered: false, .unrelated),
                ],
                .established
            ),
            (
                "what comes without a token being out is nobody's answer",
                [.begun, .refused(.established, mayRetry: true, .unrelated), .accepted(nil, persists: true, .ignored)],
                .failed
            ),
        ] as [(String, [Event], NegotiateScheme.Handshake)])
    func `a handshake goes step by step`(name: String, events: [Event], end: NegotiateScheme.Handshake) {
        var handshake = NegotiateScheme.Handshake.unbegun
        for event in events {
            switch event {
            case .begun: handshake.begun(with: Self.first)
            case .sends(let token): #expect(handshake.requestSent() == token, "\(name)")
            case .refused(let step, let mayRetry, let refusal):
                #expect(handshake.refused(step: step, mayRetry: mayRetry) == refusal, "\(name)")
            case .lost(let isOffered, let refusal): #expect(handshake.lost(isOffered: isOffered) == refusal, "\(name)")
            case .accepted(let step, let persists, let acceptance):
                #expect(handshake.accepted(step: step, persists: persists) == acceptance, "\(name)")
            }
        }
        #expect(handshake == end, "\(name)")
    }
}
