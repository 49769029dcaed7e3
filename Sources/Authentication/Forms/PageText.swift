import Bytes

/// The readable text of a response's content: of an HTML page the text that a browser shows, of other text all of it.
enum PageText {
    /// - Parameters:
    ///   - content: the beginning of the content, without any content coding.
    ///   - mediaType: the value of `Content-Type`; nil: absent, and the type is guessed from the content.
    /// - Returns: nil if the content is not text.
    static func of(_ content: [UInt8], mediaType: String?) -> String? {
        guard let kind = kind(of: content, mediaType), !content.isEmpty else { return nil }
        let charset = mediaType.flatMap { HTMLCharset(mediaType: $0) } ?? .utf8
        return kind == .page ? text(ofPage: content, charset) : charset.decode(content)
    }

    private enum Kind {
        case page
        case plain
    }

    private static func kind(of content: [UInt8], _ mediaType: String?) -> Kind? {
        guard let mediaType else { return guess(content) }
        let type = String(mediaType.prefix { $0 != ";" }).lowercased().filter { !$0.isWhitespace }
        if ["text/html", "application/xhtml+xml"].contains(type) { return .page }
        if type == "text/event-stream" { return nil }
        let isText =
            type.hasPrefix("text/") || type.hasSuffix("+json") || type.hasSuffix("+xml")
            || ["application/json", "application/xml"].contains(type)
        return isText ? .plain : nil
    }

    private static func guess(_ content: [UInt8]) -> Kind? {
        let isText = content.allSatisfy {
            $0 >= .space && $0 != .delete || [.tab, .lineFeed, .carriageReturn].contains($0)
        }
        guard isText else { return nil }
        return content.first { $0 > .space } == .lessThan ? .page : .plain
    }

    /// The elements whose tags do not separate words.
    private static let inline: Set<String> = [
        "a", "b", "i", "u", "em", "strong", "code", "span", "font", "small", "big", "tt", "kbd", "sub", "sup", "abbr",
    ]
    /// The elements whose content is not shown.
    private static let hidden: Set<String> = ["script", "style", "iframe", "noembed", "noframes"]

    private static func text(ofPage content: [UInt8], _ charset: HTMLCharset) -> String {
        var (tokenizer, text, isHidden) = (HTMLTokenizer(content), "", false)
        while let token = tokenizer.next() {
            switch token {
            case .start(let tag):
                isHidden = hidden.contains(tag.name)
                if !inline.contains(tag.name) { text += " " }
            case .end(let name):
                isHidden = false
                if !inline.contains(name) { text += " " }
            case .text(let range):
                guard !isHidden else { continue }
                text += HTMLCharacterReference.resolve(charset.decode(content[range]), isAttribute: false)
            }
        }
        return text
    }
}

extension ResponseExcerpt {
    /// Sets the text from the response's content.
    ///
    /// - Parameters:
    ///   - content: the beginning of the content, without framing and content coding.
    ///   - mediaType: the value of `Content-Type`; nil if absent.
    public mutating func take(_ content: [UInt8], mediaType: String?, hiding mask: EchoMask) {
        if let text = PageText.of(content, mediaType: mediaType) { take(text: text, hiding: mask) }
    }
}
