import Bytes
import Crypto
import IO
import Model
import TLS

/// Reads the values to which the rule file refers.
struct ValueReader: Sendable {
    /// The limit in bytes: more than any password, less than a mistaken path could deliver.
    static let limit = 64 * 1024

    let environment: [String: String]
    let runner: CommandRunner

    init(
        environment: [String: String], commands: CommandTerms = CommandTerms(),
        _ settings: [ExactText: CommandSource.Settings] = [:]
    ) {
        self.environment = environment
        runner = CommandRunner(terms: commands, environment: environment, settings: settings)
    }

    func secret(of source: ValueSource, for credential: String) throws(CredentialError) -> Secret {
        switch source {
        case .literal(let text): return Secret(text.reveal())
        case .environment(let name):
            guard let text = environment[name] else { throw .noVariable(credential: credential, variable: name) }
            return Secret(text)
        case .file(let path):
            var bytes = try content(of: path, for: credential)
            return Secret(wiping: &bytes)
        case .command(let command):
            var line = try runner.firstLine(of: command, for: credential)
            return Secret(wiping: &line)
        }
    }

    /// Reads a whole file, in which every byte counts.
    func file(_ path: String, limit: Int, for credential: String) throws(CredentialError) -> Secret {
        var bytes = try read(path, limit: limit, for: credential)
        return Secret(wiping: &bytes)
    }

    func text(of source: ValueSource, for credential: String) throws(CredentialError) -> String {
        let value = try secret(of: source, for: credential)
        guard let text = value.withBytes({ String(validating: $0.array, as: UTF8.self) }) else {
            throw .notText(credential: credential, source: source.words)
        }
        return text
    }

    /// Reads a value that may be absent.
    func secret(ofOptional source: ValueSource?, for credential: String) throws(CredentialError) -> Secret? {
        guard let source else { return nil }
        return try secret(of: source, for: credential)
    }

    /// Reads a private key in PEM.
    ///
    /// - Parameter pem: the content of the file.
    func privateKey(
        _ pem: Secret, at path: String, _ passphrase: Secret?, for credential: String
    ) throws(CredentialError) -> PrivateKey {
        do throws(Identity.Failure) {
            return try pem.withBytes { bytes throws(Identity.Failure) in
                try PrivateKey(pem: bytes, passphrase: passphrase)
            }
        } catch { throw .identity(credential: credential, source: path, error) }
    }

    private func content(of path: String, for credential: String) throws(CredentialError) -> [UInt8] {
        var bytes = try read(path, limit: Self.limit, for: credential)
        if bytes.last == UInt8(ascii: "\n") {
            bytes.removeLast()
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        return bytes
    }

    private func read(_ path: String, limit: Int, for credential: String) throws(CredentialError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(path, limit: limit)
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge(credential: credential, path: path, limit: limit)
            case .system(let errno):
                throw .unreadable(credential: credential, path: path, cause: IOError.sentence(for: errno))
            }
        }
        // A shell that writes a new value empties the file first, and an empty password would count as a wrong one.
        if bytes.isEmpty { throw .empty(credential: credential, path: path) }
        return bytes
    }
}

extension ValueSource {
    /// The source as part of a sentence, never the value.
    var words: String {
        switch self {
        case .literal: "a literal value"
        case .environment(let name): "environment variable \(name)"
        case .file(let path): "file \(path)"
        case .command(let command): "the output of \(command.program)"
        }
    }
}

/// The reason why a configured credential has no value, or not the newest.
public enum CredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadable(credential: String, path: String, cause: String)
    /// The file is empty, without even a line end: it is about to be written, or never was.
    case empty(credential: String, path: String)
    case tooLarge(credential: String, path: String, limit: Int)
    case notText(credential: String, source: String)
    case noVariable(credential: String, variable: String)
    case unknown(credential: String)
    /// A program that gives it has failed.
    case helper(credential: String, program: String, HelperOutput.Failure)
    /// A program that gives it was not run yet.
    case notRead(credential: String)
    /// The content is not a certificate with its key.
    case identity(credential: String, source: String, Identity.Failure)

    /// Whether a program gives the credential.
    public var isOfProgram: Bool {
        switch self {
        case .helper, .notRead: true
        case .unreadable, .empty, .tooLarge, .notText, .noVariable, .unknown, .identity: false
        }
    }

    /// Whether the same request may succeed later, though nothing is changed: a program did not end in time, or nothing answers
    /// at its socket.
    public var isTransient: Bool {
        if case .helper(_, _, let failure) = self { failure.isTransient } else { false }
    }

    public var description: String {
        switch self {
        case .unreadable(let credential, let path, let cause):
            "credential \(credential): cannot read \(path): \(cause)"
        case .empty(let credential, let path): "credential \(credential): \(path) is empty"
        case .tooLarge(let credential, let path, let limit):
            "credential \(credential): \(path) is larger than \(limit) bytes"
        case .notText(let credential, let source): "credential \(credential): \(source) is not UTF-8 text"
        case .noVariable(let credential, let variable):
            "credential \(credential): environment variable \(variable) is not set"
        case .identity(let credential, let source, let error): "credential \(credential): \(source): \(error)"
        case .helper(let credential, let program, let failure):
            "credential \(credential): the helper \(program): \(failure)"
        case .notRead(let credential): "credential \(credential): no server has asked for it yet"
        case .unknown(let credential): "there is no credential \(credential)"
        }
    }
}
