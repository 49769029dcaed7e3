import Bytes
import Crypto
import Rules

extension CredentialCommand {
    /// The action `attache credential placeholder`: makes a text that clients send instead of a credential.
    struct Placeholder {
        private let name: String
        private let beginning: String

        private static let longestBeginning = 128
        private static let longestName = 32
        /// The number of random bytes. No other program makes such a text by chance.
        private static let randomBytes = 16
        /// The header and the claims of a JSON Web Token: `{"alg":"HS256","typ":"JWT"}` and `{"sub":"attache"}`.
        private static let jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhdHRhY2hlIn0."

        init(_ arguments: Arguments) throws(CommandError) {
            guard let name = arguments.operand(1), !name.isEmpty, arguments.operands.count == 2 else {
                throw arguments.error("'placeholder' needs the NAME of a credential, and nothing else")
            }
            let like = arguments.value(of: "like") ?? ""
            beginning = like == "jwt" ? Self.jwt : like
            guard beginning.utf8.count <= Self.longestBeginning, beginning.utf8.allSatisfy(\.isOfPlaceholder) else {
                throw arguments.error(
                    "'--like' takes the beginning of a key: \(Self.longestBeginning) letters, digits and -._~+/= at most"
                )
            }
            self.name = name
        }

        /// Prints the text alone, so that a script can take it, and the line for the rule file as a message.
        func print() throws(CommandError) {
            let random = try CommandError.failing { try RandomBytes.make(Self.randomBytes) }
            let shown = name.utf8.filter { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }.prefix(Self.longestName)
            let middle = shown.isEmpty ? "" : String(decoding: shown, as: UTF8.self) + "-"
            let text = "\(beginning)\(Span<UInt8>.placeholderMark)-\(middle)\(Hex.encode(random))"
            Console.print(text)
            Console.error("write this line in 'credential \(name)' of the rule file: placeholder \(text)")
        }
    }
}
