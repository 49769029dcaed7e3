import Authentication
import Bytes
import Model
import Rules
import Telemetry

/// A protection space that challenged, and the handling of its last challenge. It has names of credentials, never their
/// values.
public struct JournalEntry: Sendable {
    public struct Key: Sendable, Hashable {
        /// The space; its realm is cut to `JournalText.longest` characters.
        public let space: ProtectionSpace
        /// The scheme as the server writes it, in lower case; empty if it named no challenge.
        public let scheme: String

        public init(_ space: ProtectionSpace, scheme: String) {
            self.space = ProtectionSpace(
                origin: space.origin, realm: space.realm.map { JournalText.printable($0) },
                authenticationMethod: space.authenticationMethod)
            self.scheme = JournalText.printable(scheme, longest: 64)
        }
    }

    /// The result of the request.
    public enum Outcome: String, Sendable {
        /// An answer to the challenge was accepted.
        case answered
        /// The client got the challenge.
        case passed
        /// The client got a `502` instead.
        case cancelled
        /// A server that asks for a certificate was shown none, and continued.
        case declined
        /// The client opened a tunnel, in which the proxy sees no challenges, though a rule names the server.
        case unseen
        /// The client opened a tunnel, in which the proxy sees no challenges, to a server that no rule names.
        case tunnelled
        /// The request is held until an operator answers.
        case waiting
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
    /// The challenges of the response, one field line each; printable, at most `JournalText.lines`.
    public var lines: [String] = []
    /// The rules that were asked, with the reason why each did not match; those that got furthest.
    public var rules: [String] = []
    /// The rule that decided; nil if none.
    public var rule: RuleReference?
    /// The decision in the words of the rule file.
    public var disposition = "default"
    /// The name of the credential that was sent or would have been proposed; nil if none.
    public var credential: String?
    /// The number of refused answers of the request.
    public var failures = 0
    /// The excerpt of the response that challenged, or that refused the last answer; nil if none was read.
    public private(set) var response: ResponseExcerpt?
    /// The time of the response.
    private(set) var responded: WallTime = 0
    /// The reason why it was not answered, as one sentence.
    public var reason: String?
    /// The kind of the reason; meaningful only for unanswered challenges.
    public var cause = UnansweredCause.failed
    /// The credentials of the rule file that answered, or that a rule nearly gave and intends for this server.
    public var credentials: [String] = []
    /// Whether the rule that nearly answered requires answers that do not show the credential on the way.
    public var wantsSecure = false
    /// The remedy after which the refused credential is sent again at once, as a clause for operators.
    public var remedy: String?
    /// Lines for the rule file that would answer it.
    public var suggestion: String?
    /// The rule in these lines, with the comments before it; nil if they are other lines.
    private(set) var suggestedRule: SuggestedChallengeRule?
    private var comments: [String] = []
    /// The names that these lines give.
    public var suggestedNames = SuggestedNames()
    /// The rule that these lines have to stand before; nil: they can stand anywhere.
    public var precedes: RuleReference?
    /// The time when something of the same server was answered after this was not. Nil: it was answered itself,
    /// or it is still open.
    public var solved: WallTime?
    /// Whether a rule or a stored credential concerns the server.
    public var isConcerned = true
    public var first: WallTime
    public var last: WallTime
    public var count = 1

    public init(_ key: Key, _ outcome: Outcome, at now: WallTime) {
        self.key = key
        self.outcome = outcome
        first = now
        last = now
    }

    mutating func suggest(_ rule: SuggestedChallengeRule, with comments: [String]) {
        (suggestedRule, self.comments) = (rule, comments)
        suggestion = rule.lines.map { (comments + $0).joined(separator: "\n") }
    }

    /// Adds the metadata of the server to the suggested lines.
    ///
    /// - Parameter scopes: the scopes that the server asks for.
    mutating func announce(_ metadata: ResourceMetadata, scopes: [String]) {
        guard var rule = suggestedRule else { return }
        rule.announced = (metadata, scopes)
        suggest(rule, with: comments)
    }

    public var isAnswered: Bool { outcome == .answered }

    /// Whether it was not answered, and nothing of the server was answered since.
    public var isOpen: Bool {
        switch outcome {
        case .answered, .tunnelled, .waiting: false
        case .passed, .cancelled, .declined, .unseen: solved == nil
        }
    }

    public mutating func note(_ response: ResponseExcerpt?, at now: WallTime) {
        (self.response, responded) = (response, now)
    }

    /// The names that suggested lines give to rules and credentials.
    public struct SuggestedNames: Sendable, Equatable {
        public var rules: Set<String> = []
        public var credentials: Set<String> = []

        public init(rules: Set<String> = [], credentials: Set<String> = []) {
            self.rules = rules
            self.credentials = credentials
        }

        /// Takes the name for a new rule: the one that is wished, or else the first with a number that is free.
        public mutating func takeRule(_ wish: String) -> String {
            let name = Configuration.free(wish, rules.contains)
            rules.insert(name)
            return name
        }

        /// The name for a new credential: the one that is wished, or else the first with a number that is free.
        public func freeCredential(_ wish: String) -> String { Configuration.free(wish, credentials.contains) }

        public mutating func add(_ other: JournalEntry.SuggestedNames) {
            rules.formUnion(other.rules)
            credentials.formUnion(other.credentials)
        }
    }
}

/// Makes texts of servers safe for a page and a terminal.
public enum JournalText {
    public static let longest = 256
    /// The limit of field lines of one response.
    static let lines = 8
    /// The limit of the asked rules that are shown.
    static let rules = 12

    /// Returns one line of limited length, without anything that controls a terminal.
    public static func printable(_ text: String, longest: Int = longest) -> String {
        if text.utf8.count <= longest, text.utf8.allSatisfy({ $0 >= .space && $0 < .delete }) { return text }
        var line = ""
        for scalar in text.unicodeScalars.prefix(longest) {
            line.unicodeScalars.append(scalar.isInvisible ? "\u{FFFD}" : scalar)
        }
        return line.unicodeScalars.count < text.unicodeScalars.count ? line + "…" : line
    }
}
