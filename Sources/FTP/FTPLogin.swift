import Crypto

/// Who logs in, by USER and PASS (RFC 959 section 4.1.1).
public struct FTPLogin: Sendable {
    let user: [UInt8]
    let password: Secret

    /// Nil when either has a byte that would end its command.
    public init?(user: [UInt8], password: Secret) {
        let endsNothing = password.withBytes { bytes in
            for offset in bytes.indices where bytes[offset] < 0x20 || bytes[offset] == 0x7F { return false }
            return true
        }
        guard endsNothing, !user.isEmpty, user.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        self.user = user
        self.password = password
    }
}
