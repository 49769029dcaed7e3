import IO

/// Why a line of a users file, or all of it, is of no use. Shows nothing of the line.
public struct UsersFileProblem: Error, Sendable, Hashable, CustomStringConvertible {
    enum Reason: Sendable, Hashable {
        case unreadable(FileError)
        case notText
        case noUser
        case duplicate
        case htdigest
        case unknownMethod
        case weak(String)
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
        case .unreadable(.system(let errno)): "cannot read the users file: \(IOError.sentence(for: errno))"
        case .unreadable(.tooLarge): "the users file is too large"
        case .notText: "the line is not UTF-8 text"
        case .noUser: "expected a user name, a colon and a password hash"
        case .duplicate: "the user stands in an earlier line already, which counts"
        case .htdigest: "htdigest lines are not supported yet"
        case .unknownMethod: "the password hash is of no method that libcrypt knows here"
        case .weak(let method):
            "\(method) is too weak a password hash: make a line with `attache password` or `htpasswd -B`"
        }
    }
}
