/// The order in which the tokens of a Negotiate login go over a connection. A machine without I/O and without Kerberos.
///
///     unbegun ─▶ ready ─▶ awaitingVerdict ─▶ established
///        ▲         ▲─────────────┘ │               │
///        └─────── for one request only ────────────┘
enum NegotiateHandshake: Equatable {
    /// Nothing was sent. Becomes `.ready`.
    case unbegun
    /// A token is there to be sent. Becomes `.awaitingVerdict`.
    case ready([UInt8])
    /// A token is out. Becomes `.ready` when the server wants another, `.established`, `.unbegun` when it was accepted for
    /// one request, or `.failed`.
    case awaitingVerdict
    /// The connection is logged in. Becomes `.unbegun` when the server says that it is not.
    case established
    /// It came to nothing, and the connection is of no more use. Stays.
    case failed

    var isAwaitingVerdict: Bool { self == .awaitingVerdict }

    /// The first token was made.
    mutating func begun(with token: [UInt8]) {
        if case .unbegun = self { self = .ready(token) }
    }

    /// A request goes out. Nil when no token is due, or none was made.
    mutating func requestSent() -> [UInt8]? {
        guard case .ready(let token) = self else { return nil }
        self = .awaitingVerdict
        return token
    }

    /// A `401` or `407` came to a request with a token.
    ///
    /// - Parameters:
    ///   - step: what the token in it came to; nil without one.
    ///   - mayRetry: whether another ticket could do better.
    mutating func refused(step: KerberosStep?, mayRetry: Bool) -> Refusal {
        guard case .awaitingVerdict = self else { return .unrelated }
        switch step {
        case .continue(let token)?:
            self = .ready(token)
            return .proceed
        case .established?:
            // The server knows who asks, and refuses. Another token would only say the same.
            self = .failed
            return .denied
        case .clockSkew?:
            self = .failed
            return .aborted
        case .failed?, nil:
            self = mayRetry ? .unbegun : .failed
            return mayRetry ? .retry : .denied
        }
    }

    /// A `401` or `407` came on a connection that was logged in.
    mutating func lost(isOffered: Bool) -> Refusal {
        guard isOffered else { return .unrelated }
        self = .unbegun
        return .retry
    }

    /// A response came that is no challenge.
    ///
    /// - Parameter step: what the token in it came to; nil without one.
    mutating func accepted(step: KerberosStep?, persists: Bool) -> Acceptance {
        switch self {
        case .awaitingVerdict:
            if step == .failed || step == .clockSkew {
                self = .failed
                return .mismatch
            }
            self = persists ? .established : .unbegun
            return step == .established ? .verified : .unverified
        case .established: return .unverified
        case .unbegun, .ready, .failed:
            self = .failed
            return .ignored
        }
    }
}
