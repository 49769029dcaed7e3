import Bytes
import Crypto

/// The content of another program's file of credentials.
public struct FoundCredentials: Sendable {
    /// An entry that was understood but not imported.
    public struct Omission: Sendable {
        /// The line number, from 1.
        public let line: Int
        public let sentence: String
    }

    /// The credentials in the order of the file. Of several for one server, the file's own program uses the first.
    public internal(set) var credentials: [Entry] = []
    public internal(set) var omissions: [Omission] = []
    /// The line that restricts authentication to one method, and that method.
    public internal(set) var onlyMethod: (line: Int, name: String)?

    init() {}

    /// Whether the file contains no credentials at all, like a file of another kind.
    public var isEmpty: Bool { credentials.isEmpty && omissions.isEmpty }

    /// Adds a credential that the file's program would send. No program sends a password with a control character (RFC
    /// 7617 section 2).
    mutating func add(
        line: Int, _ server: Entry.Server, user: String, password: inout [UInt8]
    ) throws(CredentialFileKind.Problem) {
        let isSendable = !password.contains { $0 < .space || $0 == .delete }
        let secret = Secret(wiping: &password)
        guard isSendable else {
            throw CredentialFileKind.Problem(line: line, "the password has a control character in it")
        }
        if user.isEmpty { throw CredentialFileKind.Problem(line: line, "the user has no name") }
        if secret.count == 0 { throw CredentialFileKind.Problem(line: line, "the password is empty") }
        credentials.append(Entry(line: line, server: server, user: user, password: secret))
    }

    /// A user and a password from another program's file.
    public struct Entry: Sendable {
        /// The server of the credential in the file.
        public enum Server: Sendable, Hashable {
            /// A host with any protocol, port and path.
            case host(String)
            case url(String)
            /// A proxy by its URL.
            case proxy(String)
        }

        /// The line number, from 1.
        public let line: Int
        public let server: Server
        public let user: String
        public let password: Secret
    }
}
