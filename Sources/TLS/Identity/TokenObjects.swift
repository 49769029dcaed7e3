import COpenSSL
import Crypto
import Synchronization

/// Reads the objects of a token that a URI names: through OpenSSL's stores and the provider `pkcs11` or, without that
/// provider, through the engine `pkcs11` of libp11, which Debian 12 has.
///
/// A key stays in its token. Each handshake with it calls the token's library, which blocks.
enum TokenObjects {
    static func read(_ uri: String, pin: Secret?) throws(Identity.Failure) -> Identity.Contents {
        if provider != nil { return try read(storeURI: uri, pin: pin) }
        return try engine.withLock { engine throws(Identity.Failure) in
            guard let engine = engine.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) else { throw .noTokenProvider }
            return try read(uri, pin: pin, by: engine)
        }
    }

    /// The provider. It is loaded once and never unloaded, since keys from it need it.
    private static let provider: UInt? = {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return OSSL_PROVIDER_try_load(nil, "pkcs11", 1).map { UInt(bitPattern: $0) }
    }()

    /// The engine, for one search at a time. It is loaded once and never unloaded. Where it would ask for a PIN by itself,
    /// it gets none.
    private static let engine: Mutex<UInt?> = {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let declines: Prompt.Callback = { _, _, _, _ in -1 }
        guard let method = UI_UTIL_wrap_read_pem_callback(declines, 0) else { return Mutex(nil) }
        return Mutex(attache_token_engine(method).map { UInt(bitPattern: $0) })
    }()

    private static func read(
        _ uri: String, pin: Secret?, by engine: UnsafeMutableRawPointer
    ) throws(Identity.Failure) -> Identity.Contents {
        var prompt = TokenObjects.Prompt(pin)
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let method = UI_UTIL_wrap_read_pem_callback(TokenObjects.Prompt.callback, 0) else { throw .outOfMemory }
        defer { UI_destroy_method(method) }
        // The search for the key logs in, and the next one does not log in again: a wrong PIN is sent once.
        let key = withUnsafeMutablePointer(to: &prompt) { attache_token_key(engine, uri, method, $0) }
        if key == nil, let refusal = prompt.refusalOfPIN() { throw refusal }
        let certificate = attache_token_certificate(engine, uri)
        guard key != nil || certificate != nil else { throw prompt.wasAsked ? .noSuchObject : .noSuchToken }
        defer { X509_free(certificate) }
        return Identity.Contents(
            certificates: [certificate].compactMap { $0.flatMap(Certificate.init(copying:)) },
            key: key.map(PrivateKey.init(takingOwnership:)))
    }

    /// - Parameter storeURI: a URI of any scheme that a provider supports.
    static func read(storeURI: String, pin: Secret?) throws(Identity.Failure) -> Identity.Contents {
        var prompt = TokenObjects.Prompt(pin)
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let method = UI_UTIL_wrap_read_pem_callback(TokenObjects.Prompt.callback, 0) else { throw .outOfMemory }
        defer { UI_destroy_method(method) }
        let contents = withUnsafeMutablePointer(to: &prompt) { prompt in objects(at: storeURI, method, prompt) }
        guard let contents else { throw prompt.failure(otherwise: .unreadableToken) }
        guard contents.key != nil || !contents.certificates.isEmpty else {
            // If the PIN was accepted and the search found nothing, there is no error.
            throw ERR_peek_last_error() == 0
                ? .noSuchObject : prompt.refusalOfPIN() ?? prompt.failure(otherwise: .unreadableToken)
        }
        return contents
    }

    /// Reads the objects; nil if the store cannot be opened.
    private static func objects(
        at uri: String, _ method: OpaquePointer, _ prompt: UnsafeMutablePointer<TokenObjects.Prompt>
    ) -> Identity.Contents? {
        guard let store = OSSL_STORE_open(uri, method, prompt, nil, nil) else { return nil }
        defer { OSSL_STORE_close(store) }
        var contents = Identity.Contents(certificates: [], key: nil)
        for _ in 0..<objectLimit where OSSL_STORE_eof(store) == 0 {
            guard let object = OSSL_STORE_load(store) else { continue }
            defer { OSSL_STORE_INFO_free(object) }
            if let certificate = OSSL_STORE_INFO_get0_CERT(object) {
                contents.certificates += [certificate].compactMap(Certificate.init(copying:))
            } else if contents.key == nil, let key = OSSL_STORE_INFO_get1_PKEY(object) {
                contents.key = PrivateKey(takingOwnership: key)
            }
        }
        return contents
    }

    /// The limit of objects. A URI can name a whole token.
    private static let objectLimit = 64

    /// Answers OpenSSL's question for a passphrase, and remembers that it asked. Without it OpenSSL would ask on the
    /// terminal.
    struct Prompt {
        private let passphrase: Secret?
        private(set) var wasAsked = false
        /// Whether the passphrase is longer than OpenSSL takes.
        private var isUnfit = false

        init(_ passphrase: Secret?) { self.passphrase = passphrase }

        /// The error to report after OpenSSL failed: `other` if it asked for no passphrase.
        func failure(otherwise other: Identity.Failure) -> Identity.Failure {
            guard wasAsked else { return other }
            return passphrase == nil ? .passphraseMissing : .wrongPassphrase
        }

        /// The reason why a token did not open with the PIN, from OpenSSL's errors, which it removes; nil: it opened, or
        /// asked for no PIN.
        func refusalOfPIN() -> Identity.Failure? {
            guard wasAsked else { return nil }
            guard passphrase != nil else { return .pinMissing }
            var refusal: Identity.Failure? = isUnfit ? .wrongPIN : nil
            while case let error = ERR_get_error(), error != 0 {
                // CKR_PIN_INCORRECT to CKR_PIN_EXPIRED, and CKR_PIN_LOCKED of PKCS#11. The engine checks the length itself.
                switch attache_token_error(error) {
                case 0xA0...0xA3: refusal = .wrongPIN
                case 0xA4: refusal = .lockedPIN
                default: if attache_is_prompt_error(error) { refusal = .wrongPIN }
                }
            }
            return refusal
        }

        /// The `pem_password_cb`. Its context is a pointer to a prompt. Returns the length, or -1 without a passphrase.
        static let callback: Callback = { buffer, size, _, context in
            guard let buffer, let prompt = context?.assumingMemoryBound(to: TokenObjects.Prompt.self) else { return -1 }
            prompt.pointee.wasAsked = true
            guard let passphrase = prompt.pointee.passphrase else { return -1 }
            guard passphrase.count <= Int(size) else {
                prompt.pointee.isUnfit = true
                return -1
            }
            return passphrase.withBytes { bytes in
                for offset in 0..<bytes.count { buffer[offset] = CChar(truncatingIfNeeded: bytes[offset]) }
                return Int32(bytes.count)
            }
        }

        typealias Callback =
            @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32
    }
}
