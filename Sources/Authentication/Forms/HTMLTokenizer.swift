import Bytes

/// Finds the tags and the text of an HTML document (WHATWG HTML section 13.2.5) in one pass, as browsers do, for any
/// bytes. It builds no tree, since the content of forms does not depend on one.
struct HTMLTokenizer {
    enum Token: Equatable {
        case start(HTMLTokenizer.Tag)
        /// The end tag of the element with this name, in lower case.
        case end(String)
        /// Character data with its character references. If an element's content is text, the whole content.
        case text(Range<Int>)
    }

    private enum State {
        case data
        /// Inside an element whose content is text, up to its end tag. The name is in lower case.
        case text(String)
        case ended
    }

    let bytes: [UInt8]
    private var offset = 0
    private var state = State.data

    /// The limit of a name; longer names, and attributes beyond the next limit, are ignored.
    private static let nameLimit = 256
    private static let attributeLimit = 64

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next token; nil at the end of the document. A tag that is cut off there is ignored.
    mutating func next() -> Token? {
        while true {
            switch state {
            case .ended: return nil
            case .text(let name): if let text = readText(of: name) { return text }
            case .data: if let token = readData() { return token }
            }
        }
    }

    /// Reads the text up to the end tag of that name, which is read next; nil if it is empty.
    private mutating func readText(of name: String) -> Token? {
        let start = offset
        var end = bytes.count
        var search = start
        while let less = first(.lessThan, from: search) {
            if isEndTag(of: name, at: less) {
                end = less
                break
            }
            search = less + 1
        }
        offset = end
        state = end < bytes.count ? .data : .ended
        return end > start ? .text(start..<end) : nil
    }

    private func isEndTag(of name: String, at less: Int) -> Bool {
        let end = less + 2 + name.utf8.count
        guard end <= bytes.count, bytes[less + 1] == .slash else { return false }
        let isNamed = zip(bytes[(less + 2)..<end], name.utf8).allSatisfy { $0.asciiLowercased == $1 }
        return isNamed && (end == bytes.count || Self.endsName(bytes[end]))
    }

    private mutating func readData() -> Token? {
        let start = offset
        guard start < bytes.count else {
            state = .ended
            return nil
        }
        // A `<` that opens no markup is text.
        var search = start
        while let less = first(.lessThan, from: search), !opensMarkup(at: less) {
            search = less + 1
        }
        let markup = first(.lessThan, from: search) ?? bytes.count
        offset = markup
        if markup > start { return .text(start..<markup) }
        return readMarkup()
    }

    private func opensMarkup(at less: Int) -> Bool {
        guard less + 1 < bytes.count else { return false }
        switch bytes[less + 1] {
        case .exclamation, .question, .slash: return true
        case let byte: return byte.isLetter
        }
    }

    /// Reads the markup at a `<`. Nil if it is neither tag nor text.
    private mutating func readMarkup() -> Token? {
        let first = bytes[offset + 1]
        if first.isLetter { return readStartTag() }
        if first == .slash {
            guard offset + 2 < bytes.count else {
                state = .ended
                return nil
            }
            if bytes[offset + 2].isLetter { return readEndTag() }
            skip(behind: offset + 2)
        } else if first == .exclamation, offset + 3 < bytes.count, bytes[offset + 2] == .hyphen,
            bytes[offset + 3] == .hyphen
        {
            skipComment()
        } else {
            skip(behind: offset + 2)
        }
        return nil
    }

    /// Skips a declaration, or text that browsers treat as a comment.
    private mutating func skip(behind start: Int) {
        let end = first(.greaterThan, from: start)
        offset = end.map { $0 + 1 } ?? bytes.count
    }

    private mutating func skipComment() {
        var search = offset + 4
        // `<!-->` and `<!--->` are complete comments.
        for end in [search, search + 1] where end < bytes.count && bytes[end] == .greaterThan {
            if end == search || bytes[search] == .hyphen {
                offset = end + 1
                return
            }
        }
        while let end = first(.greaterThan, from: search) {
            if endsComment(at: end - 1) || bytes[end - 1] == .exclamation && endsComment(at: end - 2) {
                offset = end + 1
                return
            }
            search = end + 1
        }
        offset = bytes.count
    }

    /// Whether two hyphens end there that are not those that open the comment.
    private func endsComment(at last: Int) -> Bool {
        last - 1 >= offset + 4 && bytes[last] == .hyphen && bytes[last - 1] == .hyphen
    }

    private func first(_ byte: UInt8, from start: Int) -> Int? {
        let bytes = bytes
        return bytes.span.firstIndex(of: byte, in: min(start, bytes.count)..<bytes.count)
    }

    private mutating func readEndTag() -> Token? {
        offset += 2
        let name = readName()
        guard readAttributes() != nil else { return nil }
        return .end(name)
    }

    private mutating func readStartTag() -> Token? {
        offset += 1
        let name = readName()
        guard let attributes = readAttributes() else { return nil }
        switch name {
        case "script", "style", "xmp", "iframe", "noembed", "noframes", "textarea", "title": state = .text(name)
        case "plaintext": state = .ended
        default: break
        }
        return .start(HTMLTokenizer.Tag(name: name, attributes: attributes))
    }

    private mutating func readName() -> String {
        let start = offset
        while offset < bytes.count, !Self.endsName(bytes[offset]) { offset += 1 }
        return lowercased(start..<offset)
    }

    private func lowercased(_ range: Range<Int>) -> String {
        String(decoding: bytes[range].prefix(Self.nameLimit).map(\.asciiLowercased), as: UTF8.self)
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte.isMarkupSpace || byte == .slash || byte == .greaterThan
    }

    /// Reads up to the end of the tag; nil if the document ends before.
    private mutating func readAttributes() -> [HTMLTokenizer.Tag.Attribute]? {
        var attributes: [HTMLTokenizer.Tag.Attribute] = []
        while true {
            while offset < bytes.count, bytes[offset].isMarkupSpace || bytes[offset] == .slash { offset += 1 }
            guard offset < bytes.count else {
                state = .ended
                return nil
            }
            if bytes[offset] == .greaterThan {
                offset += 1
                return attributes
            }
            let start = offset
            // An equals sign at the start is part of the name.
            offset += 1
            while offset < bytes.count, !Self.endsName(bytes[offset]), bytes[offset] != .equals { offset += 1 }
            let name = start..<offset
            skipSpace()
            var value = offset..<offset
            if offset < bytes.count, bytes[offset] == .equals {
                offset += 1
                skipSpace()
                value = readValue()
            }
            if attributes.count < Self.attributeLimit {
                attributes.append(HTMLTokenizer.Tag.Attribute(name: lowercased(name), value: value))
            }
        }
    }

    private mutating func skipSpace() {
        while offset < bytes.count, bytes[offset].isMarkupSpace { offset += 1 }
    }

    private mutating func readValue() -> Range<Int> {
        guard offset < bytes.count else { return offset..<offset }
        let quote = bytes[offset]
        if quote == .quote || quote == .apostrophe {
            let start = offset + 1
            let end = first(quote, from: start)
            // If the document ends within the value, it ends within the tag.
            offset = end.map { $0 + 1 } ?? bytes.count
            return start..<(end ?? bytes.count)
        }
        let start = offset
        while offset < bytes.count, !bytes[offset].isMarkupSpace, bytes[offset] != .greaterThan { offset += 1 }
        return start..<offset
    }
}

extension UInt8 {
    static let exclamation = UInt8(ascii: "!")
    static let hyphen = UInt8(ascii: "-")
    static let lessThan = UInt8(ascii: "<")
    static let greaterThan = UInt8(ascii: ">")
    static let apostrophe = UInt8(ascii: "'")

    var isLetter: Bool { (0x61...0x7A).contains(asciiLowercased) }

    /// The bytes that separate the parts of a tag.
    var isMarkupSpace: Bool {
        self == .space || self == .lineFeed || self == .tab || self == .carriageReturn || self == 0x0C
    }
}

extension HTMLTokenizer {
    /// A start tag.
    struct Tag: Equatable {
        struct Attribute: Equatable {
            /// The end tag of the element with this name, in lower case.
            let name: String
            /// The range of the value in the document, without quotes, with its character references.
            let value: Range<Int>
        }

        /// The end tag of the element with this name, in lower case.
        let name: String
        let attributes: [Attribute]

        /// The range of an attribute's value. Of several with one name the first counts.
        subscript(name: String) -> Range<Int>? {
            attributes.first { $0.name == name }?.value
        }
    }
}
