/// A certificate with its key as the rule file states it.
public struct ConfiguredIdentity: Sendable, Hashable {
    public enum Place: Sendable, Hashable {
        /// Paths of PEM or PKCS#12 files; no key where the certificate's file has it too.
        case files(certificate: String, key: String?)
        /// A URI of RFC 7512.
        case token(uri: String)
    }

    public let place: Place
    /// What opens the key, or the token.
    public let passphrase: ValueSource?

    public init(_ place: Place, passphrase: ValueSource?) {
        self.place = place
        self.passphrase = passphrase
    }
}

extension ConfiguredIdentity: CustomStringConvertible {
    /// Where it is, for a sentence about it.
    public var description: String {
        switch place {
        case .files(let certificate, let key?): "\(certificate) with \(key)"
        case .files(let certificate, nil): certificate
        case .token(let uri): uri
        }
    }
}
