import Bytes
import COpenSSL

/// One name of a certificate's subjectAltName (RFC 5280 section 4.2.1.6).
public enum SubjectAlternativeName: Sendable, Hashable, CustomStringConvertible {
    /// A dNSName in lower case, otherwise unchanged: its first label may be `*`.
    case dns(String)
    case address(IPAddress)
    case email(String)
    case uri(String)
    case directory(DistinguishedName)
    /// A kind that is not compared, or one with an invalid value.
    case other

    public var description: String {
        switch self {
        case .dns(let name), .email(let name), .uri(let name): VisibleText.escaped(name)
        case .address(let address): "\(address)"
        case .directory(let name): "\(name)"
        case .other: "another kind of name"
        }
    }

    init(_ name: UnsafePointer<GENERAL_NAME>) {
        let kind = name.pointee.type
        if let directory = DistinguishedName(copying: attache_general_name_directory(name)) {
            self = .directory(directory)
        } else if let text = attache_general_name_text(name) {
            self = Self.read(text, kind)
        } else {
            self = .other
        }
    }

    private static func read(_ text: UnsafePointer<ASN1_STRING>, _ kind: Int32) -> SubjectAlternativeName {
        let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
        if kind == GEN_IPADD { return IPAddress(octets: bytes).map { .address($0) } ?? .other }
        // An IA5String with a zero or a byte above 127 is rejected: C and Swift would read different names.
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return .other }
        let value = String(decoding: bytes, as: UTF8.self)
        switch kind {
        case GEN_DNS: return .dns(value.lowercased())
        case GEN_EMAIL: return .email(value)
        case GEN_URI: return .uri(value)
        default: return .other
        }
    }
}

extension IPAddress {
    /// Reads 4 or 16 octets in network order.
    init?(octets: UnsafeBufferPointer<UInt8>) {
        switch octets.count {
        case 4: self.init(v4: octets.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            self.init(
                v6High: octets.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: octets.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }
}
