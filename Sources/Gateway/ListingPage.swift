import Bytes
import FTP

/// The listing of a directory as a page, written while the listing arrives.
final class ListingPage {
    private let out = ByteBuffer(capacity: 4096)
    private var line: [UInt8] = []

    /// The limit of a line in bytes; a longer line is shown as several.
    private static let longestLine = 4096
    private static let dateColumn = 40

    init(_ path: FTPPath) {
        out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>" as StaticString)
        let name = PercentEncoding.decode(path.encoded.span) ?? path.encoded
        escape(name)
        out.append("</title></head>\n<body>\n<h1>" as StaticString)
        escape(name)
        out.append("</h1>\n<pre>\n" as StaticString)
        if path.encoded.count > 1 { out.append("<a href=\"../\">../</a>\n" as StaticString) }
    }

    func add(_ bytes: Span<UInt8>) {
        for offset in bytes.indices {
            if bytes[offset] == .lineFeed {
                endLine()
            } else {
                if line.count >= Self.longestLine { endLine() }
                line.append(bytes[offset])
            }
        }
    }

    func end() {
        if !line.isEmpty { endLine() }
        out.append("</pre>\n</body>\n</html>\n" as StaticString)
    }

    func flush(to answer: GatewayAnswer) -> Bool {
        let out = out
        defer { out.clear() }
        return out.isEmpty || answer.write(out.readable)
    }

    private func endLine() {
        if line.last == .carriageReturn { line.removeLast() }
        if let entry = DirectoryEntry.of(line) {
            add(entry)
        } else if !line.starts(with: "total ".utf8) {
            escape(line)
            out.append(.lineFeed)
        }
        line.removeAll(keepingCapacity: true)
    }

    private func add(_ entry: DirectoryEntry) {
        out.append("<a href=\"./" as StaticString)
        encode(entry.name)
        if entry.kind == .directory { out.append(.slash) }
        out.append("\">" as StaticString)
        escape(entry.name)
        if entry.kind == .directory { out.append(.slash) }
        out.append("</a>" as StaticString)
        let width = entry.name.count + (entry.kind == .directory ? 1 : 0)
        out.append(String(repeating: " ", count: max(1, Self.dateColumn - width)))
        escape(Array(entry.date.utf8))
        if !entry.size.isEmpty {
            out.append("  " as StaticString)
            escape(Array(entry.size.utf8))
        }
        out.append(.lineFeed)
    }

    private func escape(_ text: [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): out.append("&amp;" as StaticString)
            case UInt8(ascii: "<"): out.append("&lt;" as StaticString)
            case UInt8(ascii: ">"): out.append("&gt;" as StaticString)
            case UInt8(ascii: "\""): out.append("&quot;" as StaticString)
            case 0..<0x20 where byte != 0x09: out.append(UInt8(ascii: "?"))
            default: out.append(byte)
            }
        }
    }

    /// Encodes all but the unreserved characters (RFC 3986 section 2.3).
    private func encode(_ name: [UInt8]) {
        for byte in name {
            let isLetter = (byte | 0x20) &- 0x61 < 26
            if isLetter || byte.isDigit || "-._~".utf8.contains(byte) {
                out.append(byte)
            } else {
                out.append(UInt8(ascii: "%"))
                out.append(hexadecimal: Int(byte), digits: 2)
            }
        }
    }
}
