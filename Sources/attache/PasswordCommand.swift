import Crypto
import IO

/// `attache password`: makes a line of the users file.
struct PasswordCommand: Command {
    static let syntax = CommandSyntax(
        name: "password", summary: "make a line of the users file",
        operands: [CommandOperand(name: "USER", isOptional: true)],
        options: [
            CommandOption(name: "method", value: "METHOD", summary: ["yescrypt (default), bcrypt, sha512 or sha256"])
        ],
        details: """
            Asks for the password twice without showing it. Where standard input is no terminal, the
            password is read from there; one newline at its end is no part of it. Without USER, only the
            hash is shown.

                attache password alice >> /etc/attache/users
                attache password alice < password.txt
            """)

    let user: String?
    let method: PasswordHash.Method

    init(_ arguments: Arguments) throws(CommandError) {
        user = arguments.operand(0)
        if let user, let reason = Self.reason(against: user) { throw arguments.error(reason) }
        let name = arguments.value(of: "method") ?? "\(PasswordHash.Method.yescrypt)"
        guard let method = PasswordHash.Method.allCases.first(where: { "\($0)" == name }) else {
            let known = PasswordHash.Method.allCases.map { "\($0)" }
            throw arguments.error(Arguments.unknown("method", name, among: known))
        }
        self.method = method
    }

    func run() throws(CommandError) -> Int32 {
        let password = try PasswordEntry.read(for: method)
        do throws(CryptoError) {
            let hash = try PasswordHash.make(password, method: method)
            Console.print(user.map { "\($0):\(hash)" } ?? hash)
            return ExitStatus.success
        } catch { throw .failed("\(error)") }
    }

    /// Why no line can be that user's (RFC 7617 section 2; `#` begins a comment).
    private static func reason(against user: String) -> String? {
        if user.isEmpty { return "a user has a name" }
        if user.contains(":") { return "a user's name cannot have a colon in it" }
        if user.hasPrefix("#") { return "a user's name cannot begin with '#'" }
        if user.allSatisfy(\.isWhitespace) { return "a user's name cannot be blank" }
        return Console.printable(user) == user ? nil : "a user's name cannot have control characters in it"
    }
}
