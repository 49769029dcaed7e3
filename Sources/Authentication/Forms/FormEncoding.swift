import Bytes
import Crypto

/// Content of the type `application/x-www-form-urlencoded` (WHATWG URL section 5.2), which may hold a secret: the array
/// that it grows in is wiped.
struct FormEncoding: ~Copyable {
    private var content: [UInt8] = []
    private let charset: HTMLCharset

    init(charset: HTMLCharset) { self.charset = charset }

    mutating func beginField(_ name: String) {
        if !content.isEmpty { content.append(.ampersand) }
        append(charset.encode(name).span)
        content.append(.equals)
    }

    mutating func append(_ text: String) {
        append(charset.encode(text).span)
    }

    /// Appends UTF-8.
    mutating func append(_ secret: Secret) {
        switch charset {
        case .utf8: secret.withBytes { append($0) }
        case .windows1252:
            var bytes = secret.withBytes { charset.encode($0.text) }
            append(bytes.span)
            _ = Secret(wiping: &bytes)
        }
    }

    consuming func end() -> Secret {
        var bytes = content
        content = []
        return Secret(wiping: &bytes)
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        // The longest that this can become, so that no part of a secret is left behind by growing.
        var grown: [UInt8] = []
        grown.reserveCapacity(content.count + bytes.count * 3)
        grown += content
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "*"), .hyphen, UInt8(ascii: "."),
                UInt8(ascii: "_"):
                grown.append(byte)
            case .space: grown.append(UInt8(ascii: "+"))
            default:
                grown.append(UInt8(ascii: "%"))
                grown.append(Self.digit(byte >> 4))
                grown.append(Self.digit(byte & 0xF))
            }
        }
        swap(&content, &grown)
        _ = Secret(wiping: &grown)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
