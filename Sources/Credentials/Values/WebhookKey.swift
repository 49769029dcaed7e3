import Bytes
import Crypto
import Model

/// The key by which a receiver of webhooks authenticates their sender: any text, or `whsec_` and base64, as in Standard
/// Webhooks.
public struct WebhookKey: Sendable {
    private let source: ValueSource
    private let values: ValueReader

    /// Creates the key without reading it.
    /// - Parameter environment: the process's environment.
    public init(_ source: ValueSource, environment: [String: String]) {
        self.source = source
        values = ValueReader(environment: environment)
    }

    /// Reads the key. Blocks.
    public func read() throws(CredentialError) -> MessageAuthenticationCode {
        let text = try values.secret(of: source, for: "(webhook key)")
        let decoded = text.withBytes { bytes -> [UInt8]? in
            guard bytes.count >= Self.prefix.count, bytes.extracting(first: Self.prefix.count).array == Self.prefix
            else { return nil }
            return Base64.decode(bytes.extracting(droppingFirst: Self.prefix.count))
        }
        guard var key = decoded else { return MessageAuthenticationCode(key: text) }
        return MessageAuthenticationCode(key: Secret(wiping: &key))
    }

    private static let prefix = Array("whsec_".utf8)
}
