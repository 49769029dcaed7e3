import Authentication
import Crypto
import Model
import TLS

extension CredentialCommand {
    /// The input of a secret for `attache credential set`: never as an argument.
    struct Entry {
        private enum Source {
            case password(file: String?)
            case token(file: String)
            case identity(certificate: String, key: String?, passphrase: String?)
        }

        /// A value that was read.
        enum Value {
            case password(Secret)
            case token(Secret)
            case identity(Identity)

            /// The name in the value itself.
            var ownName: String? {
                if case .identity(let identity) = self { Console.printable("\(identity.leaf)") } else { nil }
            }

            func credential(named name: String, for space: ProtectionSpace) -> Credential {
                let full = space.credentialName(of: name)
                return switch self {
                case .password(let password):
                    Credential(name: full, user: name, password: password, persistence: .permanent)
                case .token(let token): Credential(name: full, token: token, persistence: .permanent)
                case .identity(let identity): Credential(name: full, identity: identity, persistence: .permanent)
                }
            }
        }

        private let source: Source

        /// The limit of a token in bytes: no server takes a longer field.
        private static let longestToken = 64 << 10

        init(_ arguments: Arguments) throws(CommandError) {
            let token = arguments.value(of: "token")
            let certificate = arguments.value(of: "certificate")
            let said = ["token", "certificate", "password-file"].filter { arguments.has($0) }
            if said.count > 1 { throw arguments.error("'--\(said[0])' and '--\(said[1])' exclude each other") }
            if certificate == nil { try arguments.refuse(["key", "passphrase"], "needs '--certificate'") }
            if let token {
                source = .token(file: token)
            } else if let certificate {
                let files = [certificate, arguments.value(of: "key"), arguments.value(of: "passphrase")]
                if files.count(where: { $0 == "-" }) > 1 {
                    throw arguments.error("only one file can be standard input")
                }
                source = .identity(certificate: certificate, key: files[1], passphrase: files[2])
            } else {
                source = .password(file: arguments.value(of: "password-file"))
            }
        }

        var kind: CredentialKind { method.storedKind }

        /// The method for the value if none is given.
        var method: AuthenticationMethod {
            switch source {
            case .password: .basic
            case .token: .bearer
            case .identity: .clientCertificate
            }
        }

        var needsName: Bool { kind == .password }

        func read() throws(CommandError) -> Value {
            switch source {
            case .password(let file): return .password(try PasswordEntry.read(from: file))
            case .token(let path):
                var bytes = try SecretFile(path: path, noun: "the token").readLine(limit: Self.longestToken)
                let isSendable = !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                let token = Secret(wiping: &bytes)
                guard isSendable else {
                    throw .failed("the token is empty, or has a character that cannot be sent")
                }
                return .token(token)
            case .identity(let certificate, let key, let passphrase):
                return .identity(try identity(certificate, key, passphrase))
            }
        }

        private func identity(
            _ certificate: String, _ key: String?, _ passphrase: String?
        ) throws(CommandError) -> Identity {
            var opener: Secret?
            if let passphrase {
                var bytes = try SecretFile(path: passphrase, noun: "the passphrase").readLine(limit: 1024)
                opener = Secret(wiping: &bytes)
            }
            let chain = SecretFile(path: certificate, noun: "the certificate")
            let content = try Self.material(chain)
            let keyContent = try key.map { path throws(CommandError) in
                try Self.material(SecretFile(path: path, noun: "the key"))
            }
            do throws(Identity.Failure) {
                let identity = try Identity(certificate: content, key: keyContent, passphrase: opener)
                // A key that stays in a hardware token cannot be stored elsewhere.
                _ = try identity.key.pem()
                return identity
            } catch {
                throw .failed("\(chain.name)\(key.map { " with \($0)" } ?? "") cannot be used: \(error)")
            }
        }

        private static func material(_ file: SecretFile) throws(CommandError) -> Identity.Material {
            var bytes = try file.read(limit: Identity.Material.limit)
            return .content(Secret(wiping: &bytes))
        }
    }
}
