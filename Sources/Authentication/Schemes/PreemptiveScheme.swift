import Bytes
import Model

/// Credentials that a rule sends with every request, without a challenge: in `Authorization`, by Basic or as a Bearer
/// token, or in other places.
enum PreemptiveScheme {
    /// - Parameter schemes: all schemes.
    static func authenticator(
        in space: ProtectionSpace, with credential: Credential, by schemes: [any AuthenticationScheme]
    ) throws(AuthenticationError) -> PreemptiveAuthenticator {
        if !credential.placements.isEmpty {
            return PreemptiveAuthenticator(.places(try RequestPlacement(of: credential)))
        }
        let method = space.authenticationMethod
        if let given = credential.given {
            let authenticator = GivenAuthenticator(given, scheme: method.rawValue, extent: .nothing)
            return PreemptiveAuthenticator(.field(authenticator, scheme: method.rawValue))
        }
        guard !method.traits.needsChallenge, let scheme = schemes.first(where: { $0.method == method }) else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        let (challenge, nowhere) = (HeaderChallenge(scheme: method.rawValue), [UInt8]())
        let made = try scheme.authenticator(for: challenge, in: space, at: nowhere.span, with: credential)
        guard case .request(let authenticator) = made.binding else { throw .unusableChallenge(method: method) }
        return PreemptiveAuthenticator(.field(authenticator, scheme: method.rawValue))
    }
}

extension HeaderChallenge {
    /// The challenge for answers that a rule sends with every request, although the server sends none. No header field
    /// can contain it, since its name is not a token.
    public static let preemptive = HeaderChallenge(scheme: "no challenge")
}

/// Gives one answer to every request.
final class PreemptiveAuthenticator: RequestAuthenticator {
    enum Manner: Sendable {
        /// The answer is in `Authorization`.
        case field(any RequestAuthenticator, scheme: String)
        case places(RequestPlacement)
    }

    private let manner: Manner

    init(_ manner: Manner) { self.manner = manner }

    /// The extent is empty: the rule decides where the answer is sent, and no response does.
    var extent: Extent { .nothing }

    var placement: RequestPlacement? {
        switch manner {
        case .places(let placement): placement
        case .field(let authenticator, _): authenticator.placement
        }
    }

    func answers(_ challenge: HeaderChallenge) -> Bool { challenge == .preemptive }

    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        guard case .field(let authenticator, _) = manner else { return AuthorizationTicket() }
        return try authenticator.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value)
    }

    /// If a challenge is one that the answer fits, the answer was sent too early. If the server refuses and sends no
    /// challenge, that is its verdict.
    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge {
        if challenges.contains(.preemptive) { return .refused }
        guard case .field(_, let scheme) = manner else { return .unrelated }
        return challenges.contains { $0.scheme == scheme } ? .refused : .unrelated
    }
}
