import COpenSSL
import Crypto

/// Answers OpenSSL when it asks for a passphrase, and remembers that it asked. Without it OpenSSL would ask whoever
/// sits at the terminal.
struct PassphrasePrompt {
    private let passphrase: Secret?
    private(set) var wasAsked = false

    init(_ passphrase: Secret?) { self.passphrase = passphrase }

    /// What a failure means, once OpenSSL gave up: `other` where no passphrase played a part.
    func failure(otherwise other: IdentityError) -> IdentityError {
        guard wasAsked else { return other }
        return passphrase == nil ? .passphraseMissing : .wrongPassphrase
    }

    /// For `pem_password_cb`: the context is a pointer to a prompt. Returns the length, or -1 where there is nothing
    /// to say.
    static let callback: Callback = { buffer, size, _, context in
        guard let buffer, let prompt = context?.assumingMemoryBound(to: PassphrasePrompt.self) else { return -1 }
        prompt.pointee.wasAsked = true
        guard let passphrase = prompt.pointee.passphrase, passphrase.count <= Int(size) else { return -1 }
        return passphrase.withBytes { bytes in
            for offset in 0..<bytes.count { buffer[offset] = CChar(bitPattern: bytes[offset]) }
            return Int32(bytes.count)
        }
    }

    typealias Callback =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32
}
