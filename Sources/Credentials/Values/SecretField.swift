import Crypto
import Model

/// A field of the proxy's own requests whose value the rule file refers to. It is read for each request.
public struct SecretField: Sendable {
    public let name: String
    private let source: ValueSource
    private let values: ValueReader

    /// Nothing is read yet.
    /// - Parameter environment: the process's.
    public init(_ name: String, _ source: ValueSource, environment: [String: String]) {
        self.name = name
        self.source = source
        values = ValueReader(environment: environment)
    }

    /// Reads the value. Blocks.
    public func read() throws(CredentialError) -> Secret { try values.secret(of: source, for: "(field \(name))") }
}
