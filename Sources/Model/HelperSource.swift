import Bytes

/// A program of this machine whose output is a secret. It is started without a shell.
public struct CommandSource: Sendable, Hashable, CustomStringConvertible {
    /// The settings of a credential for the programs that give it.
    public struct Settings: Sendable, Hashable {
        /// The names of the variables that the programs get of the proxy's environment.
        public var environment: [String] = []
        /// The time for which their output is used; nil: until a server refuses it, or the output says when it ends.
        public var keep: Milliseconds?
        /// Whether the helper gets the path of the request, and may give each another credential.
        public var asksForPath = false

        public init() {}
    }

    /// The program and its arguments.
    public let words: [String]

    public init(_ words: [String]) { self.words = words }

    /// The path of the socket of a helper that another user runs; nil for a program.
    public var socket: String? {
        program.hasPrefix(Self.socketPrefix) ? String(program.dropFirst(Self.socketPrefix.count)) : nil
    }

    public static let socketPrefix = "unix:"

    /// The program, as it is written. The arguments may be anything.
    public var program: String { words.first ?? "" }

    /// The command in the form of the rule file, without the arguments.
    public var description: String { words.count > 1 ? "\(program) …" : program }
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
        /// A credential plugin of Kubernetes (ExecCredential): a token, or a certificate with its key.
        case kubectl
        /// A credential process of AWS: keys that sign requests.
        case aws
        /// A credential helper of Bazel: fields of the request.
        case bazel
        /// A credential provider of Cargo: the value of the `Authorization` field.
        case cargo

        /// Whether the helper is asked for a server, and may give each another credential.
        public var asksForServer: Bool {
            switch self {
            case .plain, .kubectl, .aws: false
            case .git, .docker, .bazel, .cargo: true
            }
        }
    }

    public let kind: Kind
    public let command: CommandSource

    public init(_ kind: Kind, _ command: CommandSource) {
        self.kind = kind
        self.command = command
    }
}
