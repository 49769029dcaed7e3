/// The order in which NTLM's three messages go over a connection. A machine without I/O and without cryptography.
///
///     unbegun ─▶ awaitingChallenge ─▶ challenged ─▶ awaitingVerdict ─▶ established
///        ▲                                                 │                │
///        └──────────── the login holds no longer ──────────┴────────────────┘
enum NTLMHandshake {
    /// Nothing was sent. Becomes `.awaitingChallenge`.
    case unbegun
    /// The first message is out. Becomes `.challenged`, or `.failed` when the server does not go along.
    case awaitingChallenge
    /// The server's challenge is there. Becomes `.awaitingVerdict`.
    case challenged(NTLMChallengeMessage)
    /// The answer is out. Becomes `.established`, `.unbegun` when it was accepted for one request, or `.failed`.
    case awaitingVerdict
    /// The connection is logged in. Becomes `.unbegun` when the server says that it is not.
    case established
    /// It came to nothing, and the connection is of no more use. Stays.
    case failed

    /// The message that is due.
    enum Message {
        case negotiate
        case authenticate(NTLMChallengeMessage)
        /// No message is due: the connection is logged in, waits for the server, or is of no use.
        case none
    }

    /// A request goes out.
    mutating func requestSent() -> Message {
        switch self {
        case .unbegun:
            self = .awaitingChallenge
            return .negotiate
        case .challenged(let challenge):
            self = .awaitingVerdict
            return .authenticate(challenge)
        case .awaitingChallenge, .awaitingVerdict, .established, .failed: return .none
        }
    }

    /// A `401` or `407` came.
    ///
    /// - Parameters:
    ///   - isOffered: whether one of its challenges is NTLM's.
    ///   - challenge: the message in it.
    mutating func refused(isOffered: Bool, challenge: NTLMChallengeMessage?) -> Refusal {
        switch self {
        case .awaitingChallenge:
            guard let challenge else {
                self = .failed
                return .aborted
            }
            self = .challenged(challenge)
            return .proceed
        case .awaitingVerdict:
            // Whatever the server asks for now, it has seen the answer.
            self = .failed
            return .refused
        case .established:
            guard isOffered else { return .unrelated }
            self = .unbegun
            return .retry
        case .unbegun, .challenged, .failed: return .unrelated
        }
    }

    /// A response came that is no challenge.
    mutating func accepted(persists: Bool) -> Acceptance {
        switch self {
        case .awaitingVerdict:
            self = persists ? .established : .unbegun
            return .unverified
        case .established: return .unverified
        case .unbegun, .awaitingChallenge, .challenged, .failed:
            self = .failed
            return .ignored
        }
    }
}
