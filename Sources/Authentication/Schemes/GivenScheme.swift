import Bytes
import Crypto
import Model

/// Answers that a program has made, to challenges of any scheme.
enum GivenScheme {
    static func authenticator(
        with given: GivenAnswer, for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>
    ) -> any Authenticator {
        if given.successor != nil { return Login(given, scheme: challenge.scheme) }
        return GivenAuthenticator(
            given, scheme: challenge.scheme, extent: space.isProxy ? .origin : .directory(of: target))
    }
}

/// Sends one answer with requests.
final class GivenAuthenticator: RequestAuthenticator {
    let extent: Extent
    private let given: GivenAnswer
    private let scheme: String
    let placement: RequestPlacement?

    init(_ given: GivenAnswer, scheme: String, extent: Extent) {
        self.given = given
        self.scheme = scheme
        self.extent = extent
        placement = given.fields.isEmpty ? nil : RequestPlacement(of: given)
    }

    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == scheme }

    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        given.authorization?.withBytes { value.append($0) }
        return AuthorizationTicket()
    }

    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge {
        challenges.isEmpty ? .unrelated : .refused
    }
}

extension GivenScheme {
    /// A login in several answers on one connection. The program that has made the first one makes the others.
    final class Login: ConnectionAuthenticator {
        /// No later request begins with an answer.
        let extent = Extent.nothing
        private let first: GivenAnswer
        private let scheme: String

        init(_ first: GivenAnswer, scheme: String) {
            self.first = first
            self.scheme = scheme
        }

        func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == scheme }

        func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext {
            GivenScheme.Login.Context(first)
        }
    }
}

extension GivenScheme.Login {
    /// The answers of one connection. A machine, but for the question to the program.
    ///
    ///     ready ─▶ sent ─▶ challenged ─▶ ready … ─▶ over
    final class Context: SecurityContext {
        private enum State {
            /// The next request has the answer. Becomes `.sent`.
            case ready(GivenAnswer)
            /// Becomes `.challenged` if the server wants another answer, else `.over`.
            case sent(GivenAnswer)
            /// The program is to be asked. Becomes `.ready`.
            case challenged(any GivenAnswer.Next, [HeaderChallenge])
            case over
        }

        private var state: State
        /// The number of answers that were sent.
        private var count = 0
        /// The limit of answers: with the request that was challenged first, four requests.
        private static let limit = 3

        init(_ first: GivenAnswer) { state = .ready(first) }

        /// The answers are for the request that began the login, and for no other.
        var isEstablished: Bool { false }
        var isOpening: Bool { false }

        var isAtRest: Bool {
            if case .ready = state { count == 0 } else { false }
        }

        func prepare() async throws(AuthenticationError) {
            guard case .challenged(let next, let challenges) = state else { return }
            state = .over
            state = .ready(try await next.answer(to: challenges))
        }

        func authorize(at time: WallTime, into value: ByteBuffer) throws(AuthenticationError) {
            guard case .ready(let answer) = state else { throw .unusableChallenge(method: .other) }
            answer.authorization?.withBytes { value.append($0) }
            count += 1
            state = .sent(answer)
        }

        func refused(by challenges: [HeaderChallenge]) -> RepeatedChallenge {
            guard case .sent(let answer) = state else { return .unrelated }
            state = .over
            if challenges.isEmpty { return .unrelated }
            guard let next = answer.successor else { return .refused }
            guard count < Self.limit else { return .aborted }
            state = .challenged(next, challenges)
            return .proceed
        }

        func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance {
            state = .over
            return .unverified
        }
    }
}
