import Bytes

/// The path of an ftp URL (RFC 1738 section 3.2.2), still percent-encoded.
public struct FTPPath: Sendable, Equatable {
    /// The path with its leading slash, without the type.
    public let encoded: [UInt8]
    /// Whether the type is `;type=a`: the server converts line ends.
    public let isText: Bool

    /// - Parameter target: path and query of the request; begins with a slash.
    public init(target: Span<UInt8>) {
        var end = target.count
        var type = UInt8(ascii: "i")
        if end >= 7, target.extracting(end - 7..<end - 1).equalsIgnoringCase(";type=") {
            type = target[end - 1] | 0x20
            end -= 7
        }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(end + 1)
        for offset in 0..<end { encoded.append(target[offset]) }
        if encoded.isEmpty || type == UInt8(ascii: "d") && encoded.last != .slash { encoded.append(.slash) }
        self.encoded = encoded
        isText = type == UInt8(ascii: "a")
    }

    private init(directory encoded: [UInt8]) {
        self.encoded = encoded + [.slash]
        isText = false
    }

    public var isDirectory: Bool { encoded.last == .slash }

    /// The path with a slash at its end.
    public var asDirectory: FTPPath { isDirectory ? self : FTPPath(directory: encoded) }

    /// The path in a URL for libcurl. libcurl would search the whole path for a type and drop everything after it. A
    /// question mark with the text after it belongs to the name, like bytes that are not UTF-8.
    var urlText: String {
        var text: [UInt8] = []
        text.reserveCapacity(encoded.count + 16)
        for byte in encoded {
            switch byte {
            case .semicolon, UInt8(ascii: "?"), UInt8(ascii: "#"), 0x80...:
                text.append(UInt8(ascii: "%"))
                text += Hex.encode([byte]).utf8
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The last segment, percent-encoded; empty for a directory.
    public var lastComponent: ArraySlice<UInt8> {
        encoded[((encoded.lastIndex(of: .slash) ?? -1) + 1)...]
    }
}
