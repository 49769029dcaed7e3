import Bytes

/// Reads curl's configuration file (`curl --config`) for what it says of credentials: `user`, `proxy-user`, and users in
/// URLs, each with the `url` or `proxy` that it is for, up to a `next`. An option stands in a line of its own, with
/// dashes or without; a value with blanks in it stands in double quotes.
///
/// Options that are about other things mean nothing here. One that brings a credential of another kind is refused, and so
/// is one whose words cannot be told apart: what is not understood is not imported by half.
struct CurlConfigFile {
    /// What belongs together up to a `next`.
    private struct Transfer {
        var urls: [CurlOption] = []
        var proxies: [CurlOption] = []
        var users: [CurlOption] = []
        var proxyUsers: [CurlOption] = []
    }

    private var found = FoundCredentials()
    private var transfer = Transfer()

    static func read(_ text: Span<UInt8>) throws(CredentialFileProblem) -> FoundCredentials {
        var file = CurlConfigFile()
        var start = 0
        var line = 1
        while start < text.count {
            let end = text.firstIndex(of: .lineFeed, from: start) ?? text.count
            if let option = try CurlOption(in: text, start..<end, line: line) { try file.take(option, text) }
            start = end + 1
            line += 1
        }
        try file.finishTransfer(text)
        return file.found
    }

    private mutating func take(_ option: CurlOption, _ text: Span<UInt8>) throws(CredentialFileProblem) {
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
            throw CredentialFileProblem(
                line: option.line,
                "'\(name)' brings a credential that is no user with a password: name it in the rule file")
        case let name where Self.otherFiles.contains(name):
            throw CredentialFileProblem(line: option.line, "'\(name)' leads to another file: import that by itself")
        case let name where Self.socks.contains(name):
            throw CredentialFileProblem(line: option.line, "'\(name)' is a proxy that sends no challenge")
        default: break
        }
    }

    private func checkHeader(_ option: CurlOption, _ text: Span<UInt8>) throws(CredentialFileProblem) {
        let value = text.extracting(option.value)
        guard let colon = value.firstIndex(of: .colon) else { return }
        let name = value.extracting(first: colon)
        guard
            name.equalsIgnoringCase("authorization" as StaticString)
                || name.equalsIgnoringCase("proxy-authorization" as StaticString)
        else { return }
        throw CredentialFileProblem(line: option.line, "a header with an answer in it is no user with a password")
    }

    private mutating func finishTransfer(_ text: Span<UInt8>) throws(CredentialFileProblem) {
        let transfer = transfer
        self.transfer = Transfer()
        try take(transfer.users, for: transfer.urls, "url", text) { .url($0) }
        try take(transfer.proxyUsers, for: transfer.proxies, "proxy", text) { .proxy($0) }
    }

    private mutating func take(
        _ users: [CurlOption], for places: [CurlOption], _ kind: String, _ text: Span<UInt8>,
        _ make: (String) -> FoundCredential.Place
    ) throws(CredentialFileProblem) {
        if users.count > 1 {
            throw CredentialFileProblem(
                line: users[1].line, "'\(users[1].name)' stands a second time; 'next' begins another transfer")
        }
        if let user = users.first, places.isEmpty {
            throw CredentialFileProblem(line: user.line, "no '\(kind)' says which server this user is for")
        }
        for place in places {
            let url = try CurlURL(place, text)
            if let userinfo = url.userinfo {
                let (user, colon) = try Self.split(text, userinfo, line: place.line)
                guard let name = PercentEncoding.decode(text.extracting(user)),
                    var password = PercentEncoding.decode(text.extracting(colon + 1..<userinfo.upperBound))
                else {
                    throw CredentialFileProblem(line: place.line, "the user in the URL cannot be decoded")
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

    /// Where the user is, and the colon behind it.
    private static func split(
        _ text: Span<UInt8>, _ range: Range<Int>, line: Int
    ) throws(CredentialFileProblem) -> (user: Range<Int>, colon: Int) {
        guard let colon = text.firstIndex(of: .colon, in: range) else {
            throw CredentialFileProblem(line: line, "the user has no password here: curl would ask for it")
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
}
