/// Why there is no key for nonces.
public enum NonceKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    case exposed(path: String)
    case unreadable(CredentialError)
    case unusable(String)

    public var description: String {
        switch self {
        case .exposed(let path): "others can read the nonce-key; run: chmod 600 \(path)"
        case .unreadable(let error): "\(error)"
        case .unusable(let source):
            "nonce-key wants 32 bytes, as 64 hexadecimal digits or 44 characters of base64, and \(source) has none; "
                + "make one with: openssl rand -base64 32"
        }
    }
}
