import Crypto
import Model

/// A field of the proxy's own requests with a value that the rule file refers to. It is read for each request.
public struct SecretField: Sendable {
    public let name: String
    private let source: ValueSource
    private let values: ValueReader

    /// Creates the field without reading the value.
    /// - Parameter environment: the process's environment.
    public init(_ name: String, _ source: ValueSource, environment: [String: String]) {
        self.name = name
        self.source = source
        values = ValueReader(environment: environment)
    }

    /// Reads the value. Blocks.
    public func read() throws(CredentialError) -> Secret { try values.secret(of: source, for: "(field \(name))") }
}
