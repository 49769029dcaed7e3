/// A chapter of the manual, with the directives that it explains.
///
/// The text consists of paragraphs, separated by a blank line. Lines that begin with four spaces are literal: lines of
/// a rule file, or commands after `$ `, or another file, whose name with a colon is the first of them. A line `= TERM`
/// begins an item; its text is the lines after it, up to a blank one. Lines that begin with `| ` are rows of a table.
public struct ManualTopic: Sendable {
    /// The name for `attache help`.
    public let name: String
    /// The title, without a capital or a period.
    public let title: String
    public let text: String
    public let entries: [ManualTopic.Entry]

    init(_ name: String, _ title: String, _ text: String, _ entries: [ManualTopic.Entry]...) {
        self.name = name
        self.title = title
        self.text = text
        self.entries = entries.flatMap(\.self)
    }

    /// All topics, in the order in which they are read.
    public static let all: [ManualTopic] =
        [
            rules, tools, challenge, credential, refusals, preemptive, placeholders, forms, negotiate, tokens,
            discovery, registries, helpers, certificates, aws, oauth1, bots, operators, trust, routes, authority,
            parents, listen, http2, socks, sockets, sandboxes, transparent, dashboard, clients, egress, store, ftp,
            log, traces, limits, json, fail2ban, recipes, glossary,
        ] + recipePages

    /// Whether the topic is a page of `recipes`.
    public var isRecipe: Bool { name.hasPrefix("recipe-") }

    public static func named(_ name: String) -> ManualTopic? { all.first { $0.name == name } }

    /// The topics that explain directives of this name.
    public static func explaining(_ directive: String) -> [ManualTopic] {
        all.filter { $0.entries.contains { $0.name == directive } }
    }

    /// A directive in the manual.
    public struct Entry: Sendable {
        /// The directive whose block contains this one; nil at the top of the file.
        public let block: String?
        public let name: String
        let manual: DirectiveManual

        /// Returns the entries for directives of one block, in this order.
        static func of<Name: DirectiveName>(_ names: Name...) -> [ManualTopic.Entry] { of(names) }

        /// Returns the entries for the conditions of a `challenge` that the topic explains.
        static func ofPredicates(in topic: String) -> [ManualTopic.Entry] {
            of(Predicates.Name.explained(in: topic).map(ChallengeDirective.predicate))
        }

        private static func of<Name: DirectiveName>(_ names: [Name]) -> [ManualTopic.Entry] {
            names.compactMap { name in
                Name.manuals[name].map { ManualTopic.Entry(block: Name.block, name: name.rawValue, manual: $0) }
            }
        }

        /// The form in which it is written.
        public var form: String {
            let words = manual.values.isEmpty ? name : "\(name) \(manual.values)"
            return block.map { "\($0) { \(words) }" } ?? words
        }
    }
}
