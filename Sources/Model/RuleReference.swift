import Bytes

/// The directive that decided, for a log line, an explanation, or the body of a `502`. A class, so that a decision on
/// the hot path costs one retain and no copy.
public final class RuleReference: Sendable, Hashable, CustomStringConvertible {
    /// The name in quotes after `challenge`, the pattern of a `route`, the name of a `credential`, or the items of an
    /// `egress` line; nil for a `challenge` without a name.
    public let name: String?
    public let file: String
    public let line: Int
    /// The label in a log: the name, else the place.
    public let label: String
    /// The name and place for clients, without the directory of the rule file: `"build server" (proxy.conf:12)`.
    public let words: String
    /// The words that follow `rule` in the reason of a decision. Stored, because each challenge needs them.
    public let reason: String
    /// The JSON object with the fields of `RuleField`. Stored, because lines of the log have it.
    public let json: String

    public init(name: String?, file: String, line: Int) {
        self.name = name
        self.file = file
        self.line = line
        label = name ?? "\(file):\(line)"
        let place = "\(file.split(separator: "/").last ?? ""):\(line)"
        words = name.map { "\"\($0)\" (\(place))" } ?? place
        reason = "rule \(words)"
        let members = [
            name.map { (RuleField.name, $0.jsonString) }, (.file, file.jsonString), (.line, "\(line)"),
        ].compactMap(\.self)
        json = "{\(members.map { "\"\($0.0.rawValue)\":\($0.1)" }.joined(separator: ","))}"
    }

    public static func == (left: RuleReference, right: RuleReference) -> Bool {
        left === right || left.name == right.name && left.file == right.file && left.line == right.line
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(file)
        hasher.combine(line)
    }

    /// The place as `file:line`.
    public var place: String { "\(file):\(line)" }

    /// The text `"build server" (proxy.conf:12)`, or the place alone.
    public var description: String { name.map { "\"\($0)\" (\(place))" } ?? place }
}
