import Bytes
import IO
import Model
import Rules

/// The URLs that `attache init` is given.
enum ServerURL {
    /// Asks for it on the terminal.
    static func ask() throws(CommandError) -> String {
        let answer = try CommandError.failing { try Terminal().ask("URL of the server: ") }
        guard let answer, !answer.isEmpty else { throw .failed("no URL was given") }
        return answer
    }

    /// The request for a server's URL.
    static func request(_ url: String, by way: FirstRules.Way) throws(CommandError) -> ExplainedRequest {
        let shown = Console.printable(url)
        guard url.contains("://") else {
            throw .failed("'\(shown)' is not a complete URL: write http://\(shown) or https://\(shown)")
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .failed(
                "'init' cannot set up '\(Console.printable(scheme))': write an http or https URL")
        }
        let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil)
        var request: ExplainedRequest
        do throws(ExplanationError) { request = try ExplainedRequest(method: "GET", url: url, client: client) } catch {
            throw .failed(error.sentence)
        }
        if request.urlUser != nil {
            throw .failed("the URL has a user in it: use --user NAME instead; the password is asked for")
        }
        guard (try? HostPattern(request.host)) != nil else {
            throw .failed("the host of '\(shown)' is not possible in a rule: write its name in ASCII (xn--…)")
        }
        if request.protocol == .https, way == .plain {
            throw .failed(
                "a proxy cannot read https: use --intercept to decrypt it "
                    + "(tools must then trust the proxy's CA), or --upgrade to let tools ask for \(NextSteps.upgraded(request))"
            )
        }
        if request.protocol == .http, way != .plain {
            throw .failed("--intercept and --upgrade are for https URLs, but this is an http URL")
        }
        request.isInTunnel = way == .intercept
        return request
    }

    /// A parent proxy by its URL, with the user of the URL.
    ///
    /// - Parameter isLenient: whether a password in the URL is ignored, as in the environment.
    static func parent(
        _ url: String, isLenient: Bool = false
    ) throws(CommandError) -> (server: Configuration.Parent.Server, user: String?) {
        let shown = Console.printable(url)
        let parts = url.split(separator: "://", maxSplits: 1).map(String.init)
        let scheme = parts.count == 2 ? parts[0].lowercased() : "http"
        let known: [String: Configuration.Parent.Scheme] = [
            "http": .http, "https": .https, "socks5": .socks5, "socks5h": .socks5, "socks4a": .socks4a,
        ]
        guard let kind = known[scheme] else {
            throw .failed("'--parent' is a URL with http, https, socks5 or socks4a, not \(Console.printable(scheme))")
        }
        var rest = (parts.last ?? "").prefix { $0 != "/" && $0 != "?" }
        var user: String?
        if let at = rest.lastIndex(of: "@") {
            let login = rest[..<at]
            if login.contains(":"), !isLenient {
                throw .failed(
                    "the URL of the proxy has a password in it: write the user only; the password is asked for")
            }
            let name = Array(login.prefix { $0 != ":" }.utf8)
            user = PercentEncoding.decode(name.span).map { $0.span.text }
            rest = rest[rest.index(after: at)...]
        }
        let hasPort = rest.last != "]" && rest.contains(":") && !rest.hasSuffix(":")
        let port = kind == .http ? "3128" : kind == .https ? "443" : "1080"
        let probe = "http://\(rest)\(hasPort ? "" : ":\(port)")/"
        let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil)
        do throws(ExplanationError) {
            let request = try ExplainedRequest(method: "GET", url: probe, client: client)
            return (.init(scheme: kind, address: .init(host: request.host, port: request.port)), user)
        } catch { throw .failed("'\(shown)' is not the URL of a proxy, such as http://proxy.example.com:8080") }
    }
}
