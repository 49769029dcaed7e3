import Bytes

/// A line of a directory listing. The format of LIST is not standardised (RFC 959 section 4.1.3). Two forms are in use:
/// that of `ls -l` and that of DOS.
public struct DirectoryEntry: Equatable, Sendable {
    public enum Kind: Sendable {
        case file
        case directory
        /// A symbolic link to any kind of file.
        case link
    }

    public let kind: Kind
    /// The name as the server sent it, in an unknown encoding. It is not empty, has no slash, and is not `.` or `..`.
    public let name: [UInt8]
    /// The size in the server's words; empty for a directory.
    public let size: String
    /// The date in the server's words, by its own clock.
    public let date: String

    private init?(_ kind: Kind, name: ArraySlice<UInt8>, size: String, date: String) {
        guard !name.isEmpty, !name.contains(.slash), !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8)
        else { return nil }
        self.kind = kind
        self.name = Array(name)
        self.size = kind == .file ? size : ""
        self.date = date
    }

    /// - Parameter line: the line without its end.
    /// - Returns: nil for a line in neither form.
    public static func of(_ line: [UInt8]) -> DirectoryEntry? {
        let words = line.split(separator: .space, maxSplits: 12, omittingEmptySubsequences: true)
        return ofUnix(line, words) ?? ofDOS(line, words)
    }

    private static let months = "jan feb mar apr may jun jul aug sep oct nov dec".split(separator: " ")

    /// Parses `-rw-r--r-- 1 owner group 1234 Nov 21 10:00 name`; some servers omit the group.
    private static func ofUnix(_ line: [UInt8], _ words: [ArraySlice<UInt8>]) -> DirectoryEntry? {
        guard let mode = words.first, mode.count >= 10, let first = mode.first else { return nil }
        let kind: Kind
        switch first {
        case UInt8(ascii: "-"): kind = .file
        case UInt8(ascii: "d"): kind = .directory
        case UInt8(ascii: "l"): kind = .link
        default: return nil
        }
        for place in 3..<max(3, words.count - 3) {
            let month = text(words[place]).lowercased()
            guard months.contains(where: { $0 == month }), words[place - 1].allSatisfy(\.isDigit),
                words[place + 1].count <= 2, words[place + 1].allSatisfy(\.isDigit)
            else { continue }
            let time = words[place + 2]
            // One blank precedes the name; more blanks belong to it.
            guard time.endIndex < line.count else { return nil }
            var name = line[(time.endIndex + 1)...]
            if kind == .link, let arrow = name.firstIndex(ofWord: " -> ") { name = name[..<arrow] }
            let date = "\(text(words[place])) \(text(words[place + 1])) \(text(time))"
            return DirectoryEntry(kind, name: name, size: text(words[place - 1]), date: date)
        }
        return nil
    }

    /// Parses `11-21-26  10:00AM  <DIR>  name`, or a size in place of `<DIR>`.
    private static func ofDOS(_ line: [UInt8], _ words: [ArraySlice<UInt8>]) -> DirectoryEntry? {
        guard words.count >= 4, words[0].count >= 8, words[0].count <= 10,
            words[0].allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }), words[1].contains(.colon)
        else { return nil }
        let isDirectory = words[2].elementsEqual("<DIR>".utf8)
        guard isDirectory || words[2].allSatisfy(\.isDigit) else { return nil }
        return DirectoryEntry(
            isDirectory ? .directory : .file, name: line[words[3].startIndex...], size: text(words[2]),
            date: "\(text(words[0])) \(text(words[1]))")
    }

    private static func text(_ word: ArraySlice<UInt8>) -> String { String(decoding: word, as: UTF8.self) }
}
