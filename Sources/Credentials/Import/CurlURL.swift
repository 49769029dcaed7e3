import Bytes

/// A URL of curl's configuration file, with its user set apart.
struct CurlURL {
    /// Without the user; with a scheme, which curl may leave away.
    let text: String
    /// `user:password` in the file, percent-encoded.
    let userinfo: Range<Int>?

    init(_ option: CurlOption, _ text: Span<UInt8>) throws(CredentialFileProblem) {
        let value = option.value
        let escapes = text.firstIndex(of: .backslash, in: value) != nil && option.isQuoted
        let isPlain = !text.extracting(value).isEmpty && !escapes && text.firstIndex(of: .quote, in: value) == nil
        guard isPlain else {
            throw CredentialFileProblem(line: option.line, "'\(option.name)' has no URL that can be read")
        }
        if text.firstIndex(of: UInt8(ascii: "{"), in: value) ?? text.firstIndex(of: UInt8(ascii: "["), in: value)
            != nil,
            option.name == "url", !Self.isAddress(text.extracting(value))
        {
            throw CredentialFileProblem(line: option.line, "the URL stands for several: name each by itself")
        }
        var host = value.lowerBound
        if let colon = text.firstIndex(of: .colon, in: value), colon + 2 < value.upperBound,
            text[colon + 1] == .slash, text[colon + 2] == .slash
        {
            host = colon + 3
        }
        var end = host
        while end < value.upperBound, !"/?#".utf8.contains(text[end]) { end += 1 }
        var at: Int?
        for offset in host..<end where text[offset] == UInt8(ascii: "@") { at = offset }
        userinfo = at.map { host..<$0 }
        if option.name == "proxy", !Self.hasPort(text.extracting((at.map { $0 + 1 } ?? host)..<end)) {
            // curl has a number of its own for that.
            throw CredentialFileProblem(line: option.line, "the proxy has no port")
        }
        let scheme = host == value.lowerBound ? "http://" : text.extracting(value.lowerBound..<host).text.lowercased()
        self.text = scheme + text.extracting((at.map { $0 + 1 } ?? host)..<end).text + "/"
    }

    private static func hasPort(_ authority: Span<UInt8>) -> Bool {
        var offset = authority.count
        while offset > 0, authority[offset - 1].isDigit { offset -= 1 }
        return offset > 0 && offset < authority.count && authority[offset - 1] == .colon
    }

    /// Whether the brackets are those of an IPv6 address.
    private static func isAddress(_ url: Span<UInt8>) -> Bool {
        guard let open = url.firstIndex(of: UInt8(ascii: "[")),
            let close = url.firstIndex(of: UInt8(ascii: "]"), from: open)
        else { return false }
        return url.firstIndex(of: UInt8(ascii: "{")) == nil && IPAddress(url.extracting(open + 1..<close).text) != nil
    }
}
