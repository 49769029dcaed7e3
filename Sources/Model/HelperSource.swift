/// A program of this machine whose output is a secret. It is started without a shell.
public struct CommandSource: Sendable, Hashable, CustomStringConvertible {
    /// The program and its arguments.
    public let words: [String]

    public init(_ words: [String]) { self.words = words }

    /// The program, as it is written. The arguments may be anything.
    public var program: String { words.first ?? "" }

    /// The command in the form of the rule file, without the arguments.
    public var description: String { words.count > 1 ? "\(program) …" : program }
}

/// The settings of a credential for the programs that give it.
public struct CommandSettings: Sendable, Hashable {
    /// The names of the variables that the programs get of the proxy's environment.
    public var environment: [String] = []
    /// The milliseconds for which their output is used; nil: until a server refuses it, or the output says when it ends.
    public var keep: Int?

    public init() {}
}

/// A credential helper: a program that gives a whole credential.
public struct HelperSource: Sendable, Hashable {
    /// A protocol of credential helpers. The raw value is the word in the rule file.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Any program: one line is a token, two lines are a user and a password.
        case plain
        /// gitcredentials(7).
        case git
        /// docker-credential-helpers.
        case docker

        /// Whether the helper is asked for a server, and may give each another credential.
        public var asksForServer: Bool { self != .plain }
    }

    public let kind: Kind
    public let command: CommandSource

    public init(_ kind: Kind, _ command: CommandSource) {
        self.kind = kind
        self.command = command
    }
}
