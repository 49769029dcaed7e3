import COpenSSL

/// The name of a subject or an issuer. Names are compared by RFC 5280 section 7.1: case and repeated blanks do not
/// count.
public struct DistinguishedName: Sendable, Hashable, CustomStringConvertible {
    private let object: LibraryObject

    /// Reads one Name in DER with nothing after it, at most 64 KiB; nil for anything else.
    public init?(der: Span<UInt8>) {
        guard der.count <= Self.limit,
            let name = LibraryObject.decoded(der, by: { d2i_X509_NAME(nil, $0, $1) }, free: { X509_NAME_free($0) })
        else { return nil }
        self.init(takingOwnership: name)
    }

    init(takingOwnership name: OpaquePointer) {
        object = LibraryObject(takingOwnership: name, free: { X509_NAME_free($0) })
    }

    /// Copies a name that belongs to another object; nil only without memory.
    init?(copying name: OpaquePointer?) {
        guard let name, let copy = X509_NAME_dup(name) else { return nil }
        self.init(takingOwnership: copy)
    }

    /// The `X509_NAME`, for this target only.
    var handle: OpaquePointer { object.pointer }

    public var der: [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard X509_NAME_get0_der(handle, &bytes, &count) == 1, let bytes else { return [] }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    public var isEmpty: Bool { X509_NAME_entry_count(handle) == 0 }

    private static let limit = 64 << 10

    public static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
        X509_NAME_cmp(left.handle, right.handle) == 0
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(X509_NAME_hash_ex(handle, nil, nil, nil))
    }

    /// The name in the form of RFC 4514: most significant part last, letters of any script unchanged, invisible
    /// characters escaped.
    public var description: String { Self.text(of: handle) }

    /// The text of a name that belongs to another object, in the form of `description`.
    static func text(of name: OpaquePointer?) -> String {
        guard let name else { return "" }
        let text = MemoryText.written { attache_name_print($0, name, 0) == 1 }
        return VisibleText.escaped(text ?? MemoryText.written { attache_name_print($0, name, 1) == 1 } ?? "")
    }
}
