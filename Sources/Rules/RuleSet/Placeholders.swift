import Bytes
import Model

/// The texts that clients write instead of credentials (`placeholder`). Each is replaced only under the rules that use its
/// credential.
public struct Placeholders: Sendable {
    public final class Placeholder: Sendable {
        public let text: [UInt8]
        /// The fields beside `Authorization` in which it is replaced, in lower case.
        public let fields: [String]
        /// The name of its credential.
        public let credential: String
        /// The first rule that uses the credential; nil if none does.
        public let rule: RuleReference?
        /// The offset of the mark in the text.
        fileprivate let mark: Int

        fileprivate init(_ text: String, fields: [String], of credential: String, by rule: RuleReference?) {
            let bytes = Array(text.utf8)
            self.text = bytes
            self.fields = fields
            self.credential = credential
            self.rule = rule
            mark = bytes.span.firstPlaceholderMark(in: 0..<bytes.count) ?? 0
        }
    }

    /// The lengths of placeholders, in bytes.
    public static let lengths = 16...512

    /// The placeholders; a longer one comes before those that may be its beginning.
    private let all: [Placeholder]

    /// - Parameter rules: the rules as they act in the mode of the rule file.
    init(_ configuration: Configuration, _ rules: [Configuration.ChallengeRule]) {
        var users: [ExactText: Configuration.ChallengeRule] = [:]
        for rule in rules {
            for name in rule.names where users[ExactText(name)] == nil { users[ExactText(name)] = rule }
        }
        let found = configuration.credentials.flatMap { credential -> [Placeholder] in
            let rule = users[ExactText(credential.name)]
            // A rule that only reports refuses nothing.
            if rule?.mode == .report || rule == nil && configuration.mode == .report { return [] }
            return credential.content.placements.compactMap { placement in
                guard case .placeholder(let text, let fields) = placement.place else { return nil }
                return Placeholder(text, fields: fields, of: credential.name, by: rule?.rule)
            }
        }
        all = found.sorted { $0.text.count > $1.text.count }
    }

    public var isEmpty: Bool { all.isEmpty }

    /// The longest placeholder in `bytes` whose mark is at `mark`, and its place; nil if the mark belongs to no placeholder.
    public func placeholder(around mark: Int, in bytes: Span<UInt8>) -> (Placeholder, Range<Int>)? {
        for placeholder in all {
            let text = placeholder.text
            let start = mark - placeholder.mark
            let end = start + text.count
            guard start >= 0, end <= bytes.count, bytes.extracting(start..<end).equals(text.span) else { continue }
            return (placeholder, start..<end)
        }
        return nil
    }
}

extension UInt8 {
    /// Whether a placeholder may have the byte: those of a token in `Authorization` (token68, RFC 9110 section 11.2).
    public var isOfPlaceholder: Bool {
        isDigit || (self | 0x20) &- UInt8(ascii: "a") < 26 || "-._~+/=".utf8.contains(self)
    }
}
