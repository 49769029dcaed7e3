import Bytes
import Credentials
import Crypto
import Model

/// The credential that a person has given for a server.
struct FirstLogin {
    /// Its name in the rule file.
    static let name = "login"

    let wanted: WantedLogin
    /// Nil for a token.
    let user: String?
    let secret: Secret

    /// The user in a sentence.
    var subject: String { user.map { "'\(Console.printable($0))'" } ?? "the token" }

    /// The credential with its value, before there is a file that has it.
    func credentials() throws(CommandError) -> ConfiguredCredentials {
        let secret = ValueSource.literal(
            RedactedText(secret.withBytes { String(decoding: $0.array, as: UTF8.self) }))
        let content: CredentialSource =
            switch wanted.kind {
            case .password: .password(user: .literal(RedactedText(user ?? "")), password: secret)
            case .kerberos: .kerberos(KerberosSource(principal: user ?? "", proof: .password(secret)))
            case .token: .token(secret)
            }
        let credentials = ConfiguredCredentials(
            [ConfiguredCredential(name: Self.name, content: content)], environment: [:])
        if wanted.kind == .kerberos, !ConfiguredCredentials.supportsKerberos {
            throw .failed(
                "the server asks for a Kerberos ticket: install MIT Kerberos (Debian: libgssapi-krb5-2)"
            )
        }
        if let error = credentials.refresh().errors.first { throw .failed("\(error)") }
        return credentials
    }

    /// Its block in the rule file.
    func block(secretFile: String) -> String {
        let user = RuleWord.quoted(user ?? "")
        let file = RuleWord.quoted(secretFile)
        let content =
            switch wanted.kind {
            case .password: "user \(user); password file \(file)"
            case .kerberos: "kerberos \(user); password file \(file)"
            case .token: "token file \(file)"
            }
        return "credential \(Self.name) { \(content) }"
    }
}

/// A value as the rule file writes it.
enum RuleWord {
    /// In quotes, but for words that are read as themselves without.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./@+".utf8.contains(byte)
            }
        }
        if isPlain, !text.isEmpty, text != "env", text != "file" { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
