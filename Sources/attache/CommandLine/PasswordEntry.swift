import Crypto
import IO

/// Reads a new password from a person or a program: never as an argument, which every user of the machine can see.
enum PasswordEntry {
    /// The limit of libcrypt in bytes.
    private static let longest = 511
    /// The limit of bcrypt in bytes; it ignores the rest.
    private static let longestForBcrypt = 72
    private static let standardInput = SecretFile(path: "-", noun: "the password")

    /// - Parameter method: the hash method for the password; nil for none.
    static func read(for method: PasswordHash.Method?) throws(CommandError) -> Secret {
        try checked(Terminal.isStandardInput ? try ask() : try standardInput.readLine(limit: longest), method)
    }

    /// - Parameter file: the file with the password; nil for the terminal or standard input.
    static func read(from file: String?) throws(CommandError) -> Secret {
        guard let file else { return try read(for: nil) }
        return try checked(try SecretFile(path: file, noun: "the password").readLine(limit: longest), nil)
    }

    private static func checked(
        _ password: [UInt8], _ method: PasswordHash.Method?
    ) throws(CommandError) -> Secret {
        var bytes = password
        let reason = reason(against: bytes, method)
        let secret = Secret(wiping: &bytes)
        if let reason { throw .failed(reason) }
        return secret
    }

    private static func ask() throws(CommandError) -> [UInt8] {
        var (first, second) = try askTwice()
        defer { _ = Secret(wiping: &second) }
        guard ConstantTime.equal(first.span, second.span) else {
            _ = Secret(wiping: &first)
            throw .failed("the two passwords differ")
        }
        return first
    }

    private static func askTwice() throws(CommandError) -> (first: [UInt8], second: [UInt8]) {
        try CommandError.failing {
            let terminal = try Terminal()
            guard let first = try terminal.askUnseen("Password: "), let second = try terminal.askUnseen("Repeat it: ")
            else { throw CommandError.failed("no password was given") }
            return (first, second)
        }
    }

    private static func reason(against password: [UInt8], _ method: PasswordHash.Method?) -> String? {
        if password.isEmpty { return "the password is empty" }
        if password.count > longest { return "the password is longer than \(longest) bytes" }
        if method == .bcrypt, password.count > longestForBcrypt {
            return
                "bcrypt uses only \(longestForBcrypt) bytes of a password, and this one is longer: use another --method"
        }
        // RFC 7617 section 2: no client can send a control character.
        if password.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "the password has a control character in it" }
        return nil
    }
}
