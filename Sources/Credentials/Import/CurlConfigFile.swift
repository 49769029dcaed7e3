import Bytes

/// Reads the credentials in curl's configuration file (`curl --config`): `user`, `proxy-user`, and users in URLs, each
/// with its `url` or `proxy`, up to a `next`. An option is on a line of its own, with dashes or without; a value with
/// blanks is in double quotes.
///
/// Other options are ignored. An option with a credential of another kind is refused, and so is one whose words are
/// ambiguous. A line is imported completely or not at all.
struct CurlConfigFile {
    /// The options of one block, up to a `next`.
    private struct Transfer {
        var urls: [CurlConfigFile.Option] = []
        var proxies: [CurlConfigFile.Option] = []
        var users: [CurlConfigFile.Option] = []
        var proxyUsers: [CurlConfigFile.Option] = []
    }

    private var found = FoundCredentials()
    private var transfer = Transfer()

    static func read(_ text: Span<UInt8>) throws(CredentialFileKind.Problem) -> FoundCredentials {
        var file = CurlConfigFile()
        var start = 0
        var line = 1
        while start < text.count {
            let end = text.firstIndex(of: .lineFeed, from: start) ?? text.count
            if let option = try CurlConfigFile.Option(in: text, start..<end, line: line) { try file.take(option, text) }
            start = end + 1
            line += 1
        }
        try file.finishTransfer(text)
        return file.found
    }

    private mutating func take(_ option: CurlConfigFile.Option, _ text: Span<UInt8>) throws(CredentialFileKind.Problem)
    {
        switch option.name {
        case "url": transfer.urls.append(option)
        case "proxy": transfer.proxies.append(option)
        case "user": transfer.users.append(option)
        case "proxy-user": transfer.proxyUsers.append(option)
        case "next": try finishTransfer(text)
        case "digest", "ntlm", "proxy-digest", "proxy-ntlm":
            if found.onlyMethod == nil { found.onlyMethod = (option.line, option.name) }
        case "header", "proxy-header": try checkHeader(option, text)
        case let name where Self.otherCredentials.contains(name):
            throw CredentialFileKind.Problem(
                line: option.line,
                "'\(name)' is not a user with a password: write it in the rule file")
        case let name where Self.otherFiles.contains(name):
            throw CredentialFileKind.Problem(line: option.line, "'\(name)' names another file: import that file too")
        case let name where Self.socks.contains(name):
            throw CredentialFileKind.Problem(line: option.line, "'\(name)' is a proxy that sends no challenge")
        default: break
        }
    }

    private func checkHeader(_ option: CurlConfigFile.Option, _ text: Span<UInt8>) throws(CredentialFileKind.Problem) {
        let value = text.extracting(option.value)
        guard let colon = value.firstIndex(of: .colon) else { return }
        let name = value.extracting(first: colon)
        guard
            name.equalsIgnoringCase("authorization" as StaticString)
                || name.equalsIgnoringCase("proxy-authorization" as StaticString)
        else { return }
        throw CredentialFileKind.Problem(line: option.line, "a header with credentials is not a user with a password")
    }

    private mutating func finishTransfer(_ text: Span<UInt8>) throws(CredentialFileKind.Problem) {
        let transfer = transfer
        self.transfer = Transfer()
        try take(transfer.users, for: transfer.urls, "url", text) { .url($0) }
        try take(transfer.proxyUsers, for: transfer.proxies, "proxy", text) { .proxy($0) }
    }

    private mutating func take(
        _ users: [CurlConfigFile.Option], for places: [CurlConfigFile.Option], _ kind: String, _ text: Span<UInt8>,
        _ make: (String) -> FoundCredentials.Entry.Server
    ) throws(CredentialFileKind.Problem) {
        if users.count > 1 {
            throw CredentialFileKind.Problem(
                line: users[1].line, "'\(users[1].name)' is written twice; write 'next' before another transfer")
        }
        if let user = users.first, places.isEmpty {
            throw CredentialFileKind.Problem(line: user.line, "no '\(kind)' says which server this user is for")
        }
        for place in places {
            let url = try CurlConfigFile.URL(place, text)
            if let userinfo = url.userinfo {
                let (user, colon) = try Self.split(text, userinfo, line: place.line)
                guard let name = PercentEncoding.decode(text.extracting(user)),
                    var password = PercentEncoding.decode(text.extracting(colon + 1..<userinfo.upperBound))
                else {
                    throw CredentialFileKind.Problem(line: place.line, "the user in the URL cannot be decoded")
                }
                try found.add(line: place.line, make(url.text), user: name.span.text, password: &password)
            } else if let option = users.first {
                let value = option.bytes(in: text)
                let (user, colon) = try Self.split(value.span, 0..<value.count, line: option.line)
                var password = Array(value[(colon + 1)...])
                try found.add(
                    line: option.line, make(url.text), user: value.span.extracting(user).text, password: &password)
            }
        }
    }

    /// The range of the user, and the colon after it.
    private static func split(
        _ text: Span<UInt8>, _ range: Range<Int>, line: Int
    ) throws(CredentialFileKind.Problem) -> (user: Range<Int>, colon: Int) {
        guard let colon = text.firstIndex(of: .colon, in: range) else {
            throw CredentialFileKind.Problem(line: line, "the user has no password here: curl would ask for it")
        }
        return (range.lowerBound..<colon, colon)
    }

    private static let otherCredentials: Set<String> = [
        "oauth2-bearer", "aws-sigv4", "cert", "key", "pass", "proxy-cert", "proxy-key", "proxy-pass", "negotiate",
        "proxy-negotiate", "tlsuser", "tlspassword", "proxy-tlsuser", "proxy-tlspassword", "ftp-account", "cookie",
    ]
    private static let otherFiles: Set<String> = ["netrc", "netrc-file", "netrc-optional", "config"]
    private static let socks: Set<String> = [
        "preproxy", "socks4", "socks4a", "socks5", "socks5-hostname", "socks5-basic", "socks5-gssapi",
    ]

    /// A line of curl's configuration file.
    fileprivate struct Option {
        /// The line's number, from 1.
        let line: Int
        /// The long name, without dashes.
        let name: String
        /// The value as the file has it, without quotes around it.
        let value: Range<Int>
        let isQuoted: Bool

        /// The short options that are supported.
        private static let letters: [UInt8: String] = [
            UInt8(ascii: "u"): "user", UInt8(ascii: "U"): "proxy-user", UInt8(ascii: "x"): "proxy",
            UInt8(ascii: "H"): "header", UInt8(ascii: "K"): "config", UInt8(ascii: "E"): "cert",
            UInt8(ascii: "n"): "netrc", UInt8(ascii: "b"): "cookie", .colon: "next",
        ]

        /// Nil for an empty line or a comment, and for a short option that does not concern credentials.
        init?(in text: Span<UInt8>, _ range: Range<Int>, line: Int) throws(CredentialFileKind.Problem) {
            self.line = line
            var offset = Self.skipSpace(text, range)
            guard offset < range.upperBound, !"#/*".utf8.contains(text[offset]) else { return nil }
            let start = offset
            let hasDashes = text[start] == UInt8(ascii: "-")
            let isSeparator = { (byte: UInt8) in byte <= .space || !hasDashes && (byte == .equals || byte == .colon) }
            while offset < range.upperBound, !isSeparator(text[offset]) { offset += 1 }
            let word = text.extracting(start..<offset)
            if hasDashes, word.count > 1, word[1] != UInt8(ascii: "-") {
                guard let name = try Self.shortName(word, line: line) else { return nil }
                self.name = name
                // A value may follow the letter directly.
                if word.count > 2 { offset = start + 2 }
            } else {
                // A dash alone is not a name.
                name = word.extracting(droppingFirst: min(hasDashes ? 2 : 0, word.count)).text
            }
            while offset < range.upperBound, isSeparator(text[offset]) { offset += 1 }
            let rest = text.extracting(offset..<range.upperBound)
            if rest.count > 0, rest[0] == .quote {
                let length = try QuotedWord.length(in: rest.extracting(droppingFirst: 1), line: line)
                value = offset + 1..<offset + 1 + length
                isQuoted = true
            } else {
                let start = offset
                while offset < range.upperBound, text[offset] > .space { offset += 1 }
                value = start..<offset
                isQuoted = false
                let behind = Self.skipSpace(text, offset..<range.upperBound)
                if behind < range.upperBound, text[behind] != UInt8(ascii: "#"), Self.letters.values.contains(name) {
                    throw CredentialFileKind.Problem(
                        line: line, "the value of '\(name)' has a blank in it: put it in double quotes")
                }
            }
        }

        func bytes(in text: Span<UInt8>) -> [UInt8] {
            isQuoted ? QuotedWord.unquoted(text.extracting(value)) : text.extracting(value).array
        }

        private static func skipSpace(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
            var offset = range.lowerBound
            while offset < range.upperBound, text[offset] <= .space { offset += 1 }
            return offset
        }

        /// Nil if the letters do not concern credentials.
        private static func shortName(_ word: Span<UInt8>, line: Int) throws(CredentialFileKind.Problem) -> String? {
            if let name = letters[word[1]] { return name }
            for offset in 2..<max(word.count, 2) where letters[word[offset]] != nil {
                throw CredentialFileKind.Problem(
                    line: line, "several short options in one word: write each in a line of its own")
            }
            return nil
        }
    }

    /// A URL of curl's configuration file, separated from its user.
    fileprivate struct URL {
        /// The URL without the user; with a scheme, which curl may leave away.
        let text: String
        /// The range of `user:password` in the file, percent-encoded.
        let userinfo: Range<Int>?

        init(_ option: CurlConfigFile.Option, _ text: Span<UInt8>) throws(CredentialFileKind.Problem) {
            let value = option.value
            let escapes = text.firstIndex(of: .backslash, in: value) != nil && option.isQuoted
            let isPlain = !text.extracting(value).isEmpty && !escapes && text.firstIndex(of: .quote, in: value) == nil
            guard isPlain else {
                throw CredentialFileKind.Problem(line: option.line, "'\(option.name)' has no URL that can be read")
            }
            if text.firstIndex(of: UInt8(ascii: "{"), in: value) ?? text.firstIndex(of: UInt8(ascii: "["), in: value)
                != nil,
                option.name == "url", !Self.isAddress(text.extracting(value))
            {
                throw CredentialFileKind.Problem(
                    line: option.line, "the URL is a pattern for several: write each URL by itself")
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
                // curl has a default of its own for the port.
                throw CredentialFileKind.Problem(line: option.line, "the proxy has no port")
            }
            let scheme =
                host == value.lowerBound ? "http://" : text.extracting(value.lowerBound..<host).text.lowercased()
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
            return url.firstIndex(of: UInt8(ascii: "{")) == nil
                && IPAddress(url.extracting(open + 1..<close).text) != nil
        }
    }
}
