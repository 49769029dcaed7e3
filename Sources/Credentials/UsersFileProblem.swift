import IO

/// Why a line of a users or tokens file, or all of it, is of no use, or of less than it seems. Shows no hash.
public struct UsersFileProblem: Error, Sendable, Hashable, CustomStringConvertible {
    enum Reason: Sendable, Hashable {
        case unreadable(FileError)
        case notText
        case noUser
        case blank
        case duplicate
        case noDigest
        case otherRealm(String)
        case unknownMethod
        case weak(String)
        case costly
        case noToken
        case duplicateToken
        /// These cannot use Digest.
        case withoutDigest([String], realm: String)
        /// These cannot use Digest where a client takes the first that is offered.
        case withoutSHA256([String], realm: String)
    }

    public let path: String
    /// From 1; nil when it is about the file.
    public let line: Int?
    let reason: Reason

    public var description: String {
        "\(path)\(line.map { ":\($0)" } ?? ""): \(text)"
    }

    private var text: String {
        switch reason {
        case .unreadable(.system(let errno)): "cannot read the file: \(IOError.sentence(for: errno))"
        case .unreadable(.tooLarge): "the file is too large"
        case .notText: "the line is not UTF-8 text"
        case .noUser: "expected a user name, a colon and a password hash"
        case .blank: "a blank stands before or behind the user's name, or before the hash"
        case .duplicate: "the user stands in an earlier line of this kind already, which counts"
        case .noDigest: "expected a user name, a realm and 32 or 64 hexadecimal digits, with colons between them"
        case .otherRealm(let realm): "the line is for another realm than \"\(realm)\", and of no use"
        case .unknownMethod: "the password hash is of no method that libcrypt knows here"
        case .weak(let method):
            "\(method) is too weak a password hash: make a line with `attache password` or `htpasswd -B`"
        case .costly:
            "the password hash costs too much to check: at most 1,000,000 rounds of SHA-crypt, a cost of 14 of bcrypt, and "
                + "128 MiB of yescrypt or scrypt"
        case .noToken: "expected a user name, a colon and the token's SHA-256 as 64 hexadecimal digits"
        case .duplicateToken: "the token stands in an earlier line already, which counts"
        case .withoutDigest(let users, let realm):
            "without an htdigest line for the realm \"\(realm)\" Digest lets nobody in: \(Self.list(users)); "
                + "`attache password --digest` makes one"
        case .withoutSHA256(let users, let realm):
            "with an MD5 line for the realm \"\(realm)\" and none of SHA-256, clients that take what is offered first "
                + "cannot log in: \(Self.list(users)); `attache password --digest` makes both"
        }
    }

    private static let listed = 5

    private static func list(_ users: [String]) -> String {
        let rest = users.count - listed
        return users.prefix(listed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
