import Authentication
import Crypto
import Model
import Telemetry

/// An operator's answer to a question.
public struct OperatorAnswer: Sendable {
    public enum Act: Sendable {
        /// Answer with a credential of the rule file.
        case use(String)
        case password(user: String, Secret)
        /// The server's certificate is trusted; the exception for its key is stored before the answer is given.
        case trust
        /// Go on to the response's next challenge.
        case reject
        case cancel
    }

    public let act: Act
    public let persistence: Persistence

    public init(_ act: Act, persistence: Persistence) {
        self.act = act
        self.persistence = persistence
    }

    /// In the words of the rule file, without any secret.
    public var words: String {
        switch act {
        case .use(let name): "use \(name)"
        case .password(let user, _): "user \(JournalText.printable(user, longest: 64))"
        case .trust: "trust"
        case .reject: "reject"
        case .cancel: "cancel"
        }
    }
}

extension OperatorAnswer.Act {
    /// As the metrics name it.
    var disposition: RunningFigures.Questions.Disposition {
        switch self {
        case .use: .use
        case .password: .user
        case .trust: .trust
        case .reject: .reject
        case .cancel: .cancel
        }
    }
}
