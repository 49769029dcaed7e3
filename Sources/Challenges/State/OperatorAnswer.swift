import Authentication
import Bytes
import Crypto
import Model
import Telemetry

/// An operator's answer to a question.
public struct OperatorAnswer: Sendable {
    public enum Act: Sendable {
        /// Answer with a credential of the rule file.
        case use(String)
        case password(user: String, Secret)
        /// Trust the server's certificate; the exception for its key is stored first.
        case trust
        /// Continue with the response's next challenge.
        case reject
        case cancel

        /// The name in metrics.
        var disposition: MetricsPage.Questions.Disposition {
            switch self {
            case .use: .use
            case .password: .user
            case .trust: .trust
            case .reject: .reject
            case .cancel: .cancel
            }
        }
    }

    public let act: Act
    public let persistence: Persistence

    public init(_ act: Act, persistence: Persistence) {
        self.act = act
        self.persistence = persistence
    }

    /// The answer in the words of the rule file, without any secret.
    public var words: String {
        switch act {
        case .use(let name): "use \(name)"
        case .password(let user, _): "user \(JournalText.printable(user, longest: 64))"
        case .trust: "trust"
        case .reject: "reject"
        case .cancel: "cancel"
        }
    }

    /// An operator's answer that also applies to later requests and can be revoked. Passwords are kept elsewhere, in
    /// the client's session.
    public struct Standing: Sendable {
        enum Word: Sendable {
            case use(String)
            case reject
            case cancel
            /// The exception for that key is in the store.
            case trust(KeyPin, until: Day)
        }

        /// The id of the question it answered.
        public let id: Int
        let key: OperatorQuestion.Key
        let word: Word
        /// The challenge in words.
        public let challenge: String
        /// The time of the answer.
        public let since: WallTime

        /// - Parameter until: the last day of an exception.
        /// - Returns: nil for an answer that applies to no later request, or is stored elsewhere.
        init?(_ answer: OperatorAnswer, to question: OperatorQuestion, until: Day?, at now: WallTime) {
            switch answer.act {
            case .trust:
                guard let pin = question.pin, let until else { return nil }
                word = .trust(pin, until: until)
            case _ where answer.persistence == .none: return nil
            case .use(let name): word = .use(name)
            case .reject: word = .reject
            case .cancel: word = .cancel
            case .password: return nil
            }
            id = question.id
            key = question.key
            challenge = question.words
            since = now
        }

        public var space: ProtectionSpace { key.space }
        /// The rule that asked.
        public var rule: RuleReference? { key.rule }

        /// The answer in the words of the rule file.
        public var words: String {
            switch word {
            case .use(let name): "use \(JournalText.printable(name, longest: 64))"
            case .reject: "reject"
            case .cancel: "cancel"
            case .trust(let pin, let until): "trust \(pin) until \(until)"
            }
        }

        /// The answer to another question about the same challenge; nil if a stored credential answers it.
        var act: OperatorAnswer.Act? {
            switch word {
            case .use(let name): .use(name)
            case .reject: .reject
            case .cancel: .cancel
            case .trust: nil
            }
        }
    }
}

extension ProtectionSpace {
    /// The space of exceptions for the key of the server, which is an origin or a parent with TLS.
    var ofExceptions: ProtectionSpace {
        ProtectionSpace(
            origin: Origin(host: origin.host, port: origin.port, protocol: .https), realm: nil,
            authenticationMethod: .serverTrust)
    }
}
