import Authentication
import Model
import Telemetry

/// An answer with what makes it. One object, since it is handed on several times for each request.
public final class PreparedAnswer {
    public let authenticator: any Authenticator
    public let answer: Answer
    /// The authenticator's `binding`, which each request with an answer wants to know.
    let binding: AuthenticatorBinding
    /// The ways of it that should be given up.
    let dated: DatedWays

    public init(authenticator: any Authenticator, answer: Answer) {
        self.authenticator = authenticator
        self.answer = answer
        binding = authenticator.binding
        dated = DatedWays(of: answer.space, usesMD5: binding.usesMD5)
    }

    /// Whether it belongs to a connection.
    var wantsLogin: Bool { if case .connection = binding { true } else { false } }
}

/// How far a request's answer has come.
public enum AnswerState {
    /// The request goes out without one.
    case none
    /// It goes with the request's next head. Becomes `.sent`, or `.none` where it turns out that it cannot be made.
    case prepared(PreparedAnswer)
    /// It went out. The ticket is nil where the answer belongs to the connection. Becomes `.prepared` or `.none` after a
    /// challenge.
    case sent(PreparedAnswer, AuthorizationTicket?)

    /// The answer, whether it was sent or not.
    public var prepared: PreparedAnswer? {
        switch self {
        case .none: nil
        case .prepared(let prepared), .sent(let prepared, _): prepared
        }
    }

    /// The answer that is judged by it.
    public var ticket: AuthorizationTicket? {
        if case .sent(_, let ticket) = self { ticket } else { nil }
    }

    /// The answer goes out with this ticket.
    public mutating func send(_ ticket: AuthorizationTicket?) {
        if let prepared { self = .sent(prepared, ticket) }
    }

    /// The request goes out again, which the server has let pass: the answer counts as one that nobody asked for.
    public mutating func renew() {
        guard let prepared else { return }
        let answer = prepared.answer
        self = .prepared(
            PreparedAnswer(
                authenticator: prepared.authenticator,
                answer: Answer(space: answer.space, challenge: nil, credential: answer.credential)))
    }
}

extension AuthenticatorBinding {
    fileprivate var usesMD5: Bool {
        if case .request(let authenticator) = self { authenticator.usesMD5 } else { false }
    }
}

extension DatedWays {
    fileprivate init(of space: ProtectionSpace, usesMD5: Bool) {
        self =
            switch space.authenticationMethod {
            case .ntlm: .ntlm
            case .basic, .htmlForm: space.receivesCredentialSecurely ? [] : .passwordInClear
            case .bearer, .default: space.receivesCredentialSecurely ? [] : .tokenInClear
            case .digest: usesMD5 ? .md5 : []
            case .negotiate, .clientCertificate, .serverTrust, .other: []
            }
    }
}
