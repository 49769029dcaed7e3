import Bytes
import Crypto

/// Encodes form fields as `application/x-www-form-urlencoded` (WHATWG URL section 5.2), `multipart/form-data` (RFC
/// 7578) or `application/json` (an object of strings, RFC 8259). The content may hold a secret, so its array is wiped.
struct FormEncoding: ~Copyable {
    private var content: [UInt8] = []
    private let charset: HTMLCharset
    /// The separator of multipart fields; nil: the fields are URL-encoded.
    private let boundary: String?
    private let isJSON: Bool

    /// - Parameters:
    ///   - boundary: a text that no field contains, for `multipart/form-data`.
    ///   - isJSON: whether the fields are members of a JSON object, in UTF-8.
    init(charset: HTMLCharset, boundary: String? = nil, isJSON: Bool = false) {
        self.charset = isJSON ? .utf8 : charset
        self.boundary = isJSON ? nil : boundary
        self.isJSON = isJSON
    }

    mutating func beginField(_ name: String) {
        if isJSON {
            add((content.isEmpty ? "{\"" : "\",\"").utf8Span.span)
            append(name.utf8Span.span)
            return add("\":\"".utf8Span.span)
        }
        guard let boundary else {
            if !content.isEmpty { add(.ampersand) }
            append(charset.encode(name).span)
            return add(.equals)
        }
        add("\(content.isEmpty ? "" : "\r\n")--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8Span.span)
        // WHATWG HTML section 4.10.21.7.
        for byte in charset.encode(name) {
            switch byte {
            case .quote: add("%22".utf8Span.span)
            case .carriageReturn: add("%0D".utf8Span.span)
            case .lineFeed: add("%0A".utf8Span.span)
            default: add(byte)
            }
        }
        add("\"\r\n\r\n".utf8Span.span)
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

    consuming func end() -> FormContent {
        var type = "application/x-www-form-urlencoded"
        if isJSON {
            type = "application/json"
            add((content.isEmpty ? "{}" : "\"}").utf8Span.span)
        }
        if let boundary {
            type = "multipart/form-data; boundary=\(boundary)"
            add("\(content.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8Span.span)
        }
        var bytes = content
        content = []
        return FormContent(type: type, bytes: Secret(wiping: &bytes))
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        guard boundary == nil else { return add(bytes) }
        if isJSON { return appendEscaped(bytes) }
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case _ where byte.isLetter || byte.isDigit || "*-._".utf8.contains(byte): add(byte)
            case .space: add(UInt8(ascii: "+"))
            default:
                add(UInt8(ascii: "%"))
                add(Self.digit(byte >> 4))
                add(Self.digit(byte & 0xF))
            }
        }
    }

    /// Escapes a JSON string (RFC 8259 section 7).
    private mutating func appendEscaped(_ bytes: Span<UInt8>) {
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case .quote, .backslash:
                add(.backslash)
                add(byte)
            case 0..<0x20:
                add("\\u00".utf8Span.span)
                add(Self.digit(byte >> 4))
                add(Self.digit(byte & 0xF))
            default: add(byte)
            }
        }
    }

    private mutating func add(_ bytes: Span<UInt8>) {
        for index in bytes.indices { add(bytes[index]) }
    }

    /// Grows the array itself, so that no copy of a secret is left behind.
    private mutating func add(_ byte: UInt8) {
        if content.count == content.capacity {
            var grown: [UInt8] = []
            grown.reserveCapacity(max(512, content.count * 2))
            grown += content
            swap(&content, &grown)
            _ = Secret(wiping: &grown)
        }
        content.append(byte)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}

/// The content of a form with its values.
public struct FormContent: Sendable, Equatable {
    /// The value of `Content-Type`.
    public let type: String
    public let bytes: Secret
}
