/// A chapter of the manual, and the directives that it explains.
///
/// Its text is paragraphs, with a blank line between them. Lines that begin with four blanks stand as they are: lines of a
/// rule file, or commands behind `$ `. A line `= TERM` begins an item, whose text are the lines behind it up to a blank one.
public struct ManualTopic: Sendable {
    /// As `attache help` is asked for it.
    public let name: String
    /// No capital, no period.
    public let title: String
    public let text: String
    public let entries: [ManualTopic.Entry]

    init(_ name: String, _ title: String, _ text: String, _ entries: [ManualTopic.Entry]...) {
        self.name = name
        self.title = title
        self.text = text
        self.entries = entries.flatMap(\.self)
    }

    /// All of them, in the order in which they are read.
    public static let all: [ManualTopic] = [
        rules, tools, challenge, credential, refusals, preemptive, forms, negotiate, tokens, certificates, aws,
        operators,
        trust, routes, authority, parents, listen, dashboard, clients, egress, store, ftp, log, traces, limits,
        glossary,
    ]

    public static func named(_ name: String) -> ManualTopic? { all.first { $0.name == name } }

    /// The topics whose directives have that name.
    public static func explaining(_ directive: String) -> [ManualTopic] {
        all.filter { $0.entries.contains { $0.name == directive } }
    }

    /// A directive in the manual.
    public struct Entry: Sendable {
        /// The directive that has the block it stands in; nil at the top of the file.
        public let block: String?
        public let name: String
        /// The form of its arguments; empty: it has none.
        public let values: String
        public let standard: String?
        public let text: String
        public let example: String

        /// Entries for directives of one block, in that order.
        static func of<Name: DirectiveName>(_ names: Name...) -> [ManualTopic.Entry] { of(names) }

        /// Entries for the conditions of a `challenge` that the topic explains.
        static func ofPredicates(in topic: String) -> [ManualTopic.Entry] {
            of(Predicates.Name.explained(in: topic).map(ChallengeDirective.predicate))
        }

        private static func of<Name: DirectiveName>(_ names: [Name]) -> [ManualTopic.Entry] {
            names.compactMap { name in
                Name.manuals[name].map { manual in
                    ManualTopic.Entry(
                        block: Name.block, name: name.rawValue, values: manual.values, standard: manual.standard,
                        text: manual.text, example: manual.example)
                }
            }
        }

        /// As it is written.
        public var form: String {
            let words = values.isEmpty ? name : "\(name) \(values)"
            return block.map { "\($0) { \(words) }" } ?? words
        }
    }
}
