import Authentication
import Bytes

/// The parameters of `Authorization: Digest` with `qop=auth` (RFC 7616 section 3.4), none of them believed yet.
struct DigestCredentials {
    let user: [UInt8]
    let realm: [UInt8]
    let nonce: [UInt8]
    let opaque: [UInt8]
    let uri: [UInt8]
    let clientNonce: [UInt8]
    /// `nc` as it was sent, and as a number.
    let countText: [UInt8]
    let count: UInt32
    let response: [UInt8]
    /// In lower case; MD5 where none is named.
    let algorithm: String

    /// Why the parameters are none that could be verified: the client's fault, whoever it is.
    enum Defect: Error, Equatable, CustomStringConvertible {
        case missing(String)
        case malformed(String)

        var description: String {
            switch self {
            case .missing(let name): "the Digest credentials lack \(name)"
            case .malformed(let name): "the value of \(name) in the Digest credentials makes no sense"
            }
        }
    }

    /// - Parameter credentials: of the scheme `digest`.
    init(_ credentials: HeaderChallenge) throws(Defect) {
        func value(_ name: String) throws(Defect) -> [UInt8] {
            guard let value = credentials[name] else { throw .missing(name) }
            return value
        }
        user = try value("username")
        realm = try value("realm")
        nonce = try value("nonce")
        opaque = try value("opaque")
        uri = try value("uri")
        clientNonce = try value("cnonce")
        countText = try value("nc")
        let protection = try value("qop")
        guard protection.span.equalsIgnoringCase("auth") else { throw .malformed("qop") }
        guard let count = Self.count(countText) else { throw .malformed("nc") }
        self.count = count
        let digits = try value("response")
        guard let response = Hex.decode(digits.span.text) else { throw .malformed("response") }
        self.response = response
        algorithm = credentials.text("algorithm")?.lowercased() ?? "md5"
    }

    /// Exactly eight hexadecimal digits.
    private static func count(_ text: [UInt8]) -> UInt32? {
        guard text.count == 8, let bytes = Hex.decode(text.span.text) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
