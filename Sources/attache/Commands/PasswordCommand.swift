import Authentication
import Bytes
import Crypto

/// The command `attache password`: makes a line of the users file, or of the tokens file.
struct PasswordCommand: Command {
    static let syntax = CommandSyntax(
        name: "password", summary: "make a line of the users file",
        operands: [CommandOperand(name: "USER", isOptional: true)],
        options: [
            CommandOption(
                name: "method", value: "METHOD",
                summary: [
                    "the hash: yescrypt (default), bcrypt, sha512 or sha256;",
                    "token: make a line of the tokens file instead",
                ]),
            CommandOption(
                name: "digest", value: "REALM",
                summary: ["make the lines that Digest needs instead, for the", "realm in 'clients'"]),
        ],
        details: """
            Makes a line for the users file of 'clients' or 'admin'. It asks for the password twice without
            showing it. If standard input is not a terminal, it reads the password from there, without one
            newline at its end. Without USER, it prints only the hash.

                attache password alice >> /etc/attache/users
                attache password alice < password.txt
                attache password --digest "our proxy" alice >> /etc/attache/users
                openssl rand -hex 32 | tee token | attache password --method token ci >> /etc/attache/tokens
            """)

    let user: String?
    private let line: Line

    /// The line to make of the password.
    private enum Line {
        case hash(PasswordHash.Method)
        case digest(user: String, realm: String)
        case token
    }

    private static let token = "token"

    init(_ arguments: Arguments) throws(CommandError) {
        user = arguments.operand(0)
        if let user, let reason = Self.reason(against: user) { throw arguments.error(reason) }
        let name = arguments.value(of: "method")
        if let realm = arguments.value(of: "digest") {
            guard name == nil else { throw arguments.error("'--digest' stands without '--method'") }
            guard let user else { throw arguments.error("'--digest' needs a USER, whose name goes into the digest") }
            guard Console.printable(realm) == realm else {
                throw arguments.error("a realm cannot have control characters")
            }
            line = .digest(user: user, realm: realm)
            return
        }
        if name == Self.token {
            line = .token
            return
        }
        guard let method = PasswordHash.Method.allCases.first(where: { "\($0)" == name ?? "yescrypt" }) else {
            let known = PasswordHash.Method.allCases.map { "\($0)" } + [Self.token]
            throw arguments.error(Arguments.unknown("method", name ?? "", among: known))
        }
        line = .hash(method)
    }

    func run() throws(CommandError) -> Int32 {
        switch line {
        case .hash(let method):
            let password = try PasswordEntry.read(for: method)
            show(try CommandError.failing { try PasswordHash.make(password, method: method) })
        case .digest(let user, let realm):
            let password = try PasswordEntry.read(for: nil)
            for algorithm in [DigestAlgorithm.sha256, .md5] {
                let key = DigestKey.make(algorithm, user: user, realm: realm.utf8Span.span, password: password)
                show("\(realm):\(key.withHexadecimal { $0.text })")
            }
        case .token:
            let token = try PasswordEntry.read(for: nil)
            guard token.count >= Self.shortestToken else {
                throw .failed(
                    "a token has \(Self.shortestToken) characters or more; make one with: openssl rand -hex 32")
            }
            let digest = token.withBytes { MessageDigest.digest(.sha256, of: $0) }
            show(digest.withHexadecimal { $0.text })
        }
        return ExitStatus.success
    }

    private func show(_ text: String) { Console.print(user.map { "\($0):\(text)" } ?? text) }

    /// The least length of a token: a guessable token can be found from its hash.
    private static let shortestToken = 20

    /// The reason why a user cannot have a line (RFC 7617 section 2; `#` begins a comment).
    private static func reason(against user: String) -> String? {
        if user.isEmpty { return "the user's name is empty" }
        if user.contains(":") { return "a user's name cannot have a colon in it" }
        if user.hasPrefix("#") { return "a user's name cannot begin with '#'" }
        if user.allSatisfy(\.isWhitespace) { return "a user's name cannot be blank" }
        return Console.printable(user) == user ? nil : "a user's name cannot have control characters in it"
    }
}
