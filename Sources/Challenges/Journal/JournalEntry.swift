import Authentication
import Bytes
import Model
import Rules
import Telemetry

/// A protection space that challenged, and how its last challenge was met. Names of credentials, never their values.
public struct JournalEntry: Sendable {
    public struct Key: Sendable, Hashable {
        /// Its realm is cut to `JournalText.longest` characters.
        public let space: ProtectionSpace
        /// As the server says it, in lower case; empty where it named no challenge at all.
        public let scheme: String

        public init(_ space: ProtectionSpace, scheme: String) {
            self.space = ProtectionSpace(
                origin: space.origin, realm: space.realm.map { JournalText.printable($0) },
                authenticationMethod: space.authenticationMethod)
            self.scheme = JournalText.printable(scheme, longest: 64)
        }
    }

    /// What became of the request.
    public enum Outcome: String, Sendable {
        /// An answer to the challenge was accepted.
        case answered
        /// The client got the challenge.
        case passed
        /// The client got a `502` in its place.
        case cancelled
        /// A server that asks for a certificate was shown none, and went on.
        case declined
        /// The client opened a tunnel, in which challenges are not seen.
        case unseen
    }

    /// All that the reason of an unanswered challenge depends on, beside the space.
    struct Circumstances: Equatable {
        weak var rules: RuleSet?
        let client: ClientIdentity
        let generation: Int
        let note: String?
        let failures: Int
        let credential: String?
        let keepsAuthorization: Bool
        let isRejectedByOperator: Bool
        let outcome: JournalEntry.Outcome

        static func == (left: Self, right: Self) -> Bool {
            left.rules === right.rules && left.rules != nil && left.client == right.client
                && left.generation == right.generation && left.note == right.note && left.failures == right.failures
                && left.credential == right.credential && left.keepsAuthorization == right.keepsAuthorization
                && left.isRejectedByOperator == right.isRejectedByOperator && left.outcome == right.outcome
        }
    }

    public let key: Key
    public var outcome: Outcome
    /// The challenges of the response, a field line each; printable, and no more than `JournalText.lines`.
    public var lines: [String] = []
    /// The rules that were asked, and why each did not match; those that got furthest.
    public var rules: [String] = []
    /// The rule that decided; nil: none did.
    public var rule: String?
    /// The decision in the rule file's words.
    public var disposition = "default"
    /// The name of the credential that was sent or would have been proposed; nil: there was none.
    public var credential: String?
    /// Refused answers of the request.
    public var failures = 0
    /// What the response said that challenged, or that refused the last answer; nil: nothing was looked at.
    public private(set) var response: ResponseExcerpt?
    /// When it said so; milliseconds since 1970.
    private(set) var responded = 0
    /// Why it was not answered, as one sentence.
    public var reason: String?
    /// The same in the large; only where nobody answered.
    public var cause = UnansweredCause.failed
    /// The credentials of the rule file that answered, or that a rule nearly gave and means for this server.
    public var credentials: [String] = []
    /// Whether the rule that nearly answered is for answers that do not show the credential on the way.
    public var wantsSecure = false
    /// What lets the credential be sent again at once that was refused, as a clause for operators.
    public var remedy: String?
    /// Lines for the rule file that would have it answered.
    public var suggestion: String?
    /// The names that these lines give.
    public var suggestedNames = SuggestedNames()
    /// The rule that these lines have to stand before; nil: they can stand anywhere.
    public var precedes: RuleReference?
    /// The time when something of the same server was answered after this was not; milliseconds since 1970. Nil: it was answered
    /// itself, or it is still open.
    public var solved: Int?
    /// Whether a rule or a stored credential has anything to do with the server.
    public var isConcerned = true
    /// Milliseconds since 1970.
    public var first: Int
    public var last: Int
    public var count = 1

    public init(_ key: Key, _ outcome: Outcome, at now: Int) {
        self.key = key
        self.outcome = outcome
        first = now
        last = now
    }

    public var isAnswered: Bool { outcome == .answered }

    /// Whether it was not answered, and nothing of the server was answered since.
    public var isOpen: Bool { !isAnswered && solved == nil }

    /// - Parameter now: milliseconds since 1970.
    public mutating func note(_ response: ResponseExcerpt?, at now: Int) {
        (self.response, responded) = (response, now)
    }
}

/// Texts of servers, made fit for a page and a terminal.
public enum JournalText {
    public static let longest = 256
    /// Of one response.
    static let lines = 8
    /// That are shown of those which were asked.
    static let rules = 12

    /// One line without anything that steers a terminal, and with an end.
    public static func printable(_ text: String, longest: Int = longest) -> String {
        if text.utf8.count <= longest, text.utf8.allSatisfy({ $0 >= .space && $0 < .delete }) { return text }
        var line = ""
        for scalar in text.unicodeScalars.prefix(longest) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line.unicodeScalars.append("\u{FFFD}")
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line.unicodeScalars.count < text.unicodeScalars.count ? line + "…" : line
    }
}

/// The names that suggested lines give to rules and credentials.
public struct SuggestedNames: Sendable, Equatable {
    public var rules: Set<String> = []
    public var credentials: Set<String> = []

    public init(rules: Set<String> = [], credentials: Set<String> = []) {
        self.rules = rules
        self.credentials = credentials
    }

    public mutating func add(_ other: SuggestedNames) {
        rules.formUnion(other.rules)
        credentials.formUnion(other.credentials)
    }
}
