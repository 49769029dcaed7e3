import Bytes
import Crypto

/// A Digest challenge that can be answered (RFC 7616 section 3.3; without `qop`, RFC 2069).
struct DigestChallenge: Sendable {
    enum Protection: Sendable { case none, auth, authInt }

    let realm: [UInt8]
    private(set) var nonce: [UInt8]
    let opaque: [UInt8]?
    let algorithm: DigestAlgorithm
    /// The algorithm in the server's spelling; nil when it named none, for then none is sent back.
    let algorithmName: [UInt8]?
    let isSession: Bool
    let protection: Protection
    let isStale: Bool
    let hashesUser: Bool
    let isUTF8: Bool

    /// Nil when something needed is missing, or of a kind that is not known here.
    init?(_ challenge: HeaderChallenge) {
        guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"],
            let kind = Self.algorithm(challenge["algorithm"]),
            let protection = Self.protection(challenge["qop"])
        else { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        (algorithm, isSession) = kind
        algorithmName = challenge["algorithm"]
        self.protection = protection
        isStale = challenge.isTrue("stale")
        hashesUser = challenge.isTrue("userhash")
        isUTF8 = challenge["charset"].map { $0.span.equalsIgnoringCase("utf-8") } ?? false
    }

    /// The same challenge with the nonce that `nextnonce` named.
    func with(nonce: [UInt8]) -> DigestChallenge {
        var next = self
        next.nonce = nonce
        return next
    }

    var strength: Int {
        switch algorithm {
        case .md5: Strength.digestMD5
        case .sha256: Strength.digestSHA256
        case .sha512t256: Strength.digestSHA512t256
        }
    }

    private static func algorithm(_ name: [UInt8]?) -> (DigestAlgorithm, isSession: Bool)? {
        guard let name else { return (.md5, false) }
        switch name.span.text.lowercased() {
        case "md5": return (.md5, false)
        case "md5-sess": return (.md5, true)
        case "sha-256": return (.sha256, false)
        case "sha-256-sess": return (.sha256, true)
        case "sha-512-256": return (.sha512t256, false)
        case "sha-512-256-sess": return (.sha512t256, true)
        default: return nil
        }
    }

    /// `auth` where it is offered, since `auth-int` needs the whole body before the head can be sent.
    private static func protection(_ options: [UInt8]?) -> Protection? {
        guard let options else { return Protection.none }
        let names = options.split { $0 == .comma || $0.isBlank }.map { Array($0).span.text.lowercased() }
        if names.isEmpty { return Protection.none }
        if names.contains("auth") { return .auth }
        return names.contains("auth-int") ? .authInt : nil
    }
}
