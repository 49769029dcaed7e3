import Authentication
import Bytes
import Forwarding
import IO
import Model
import Rules

/// The server that a first rule file is for, and its answers.
enum FirstServer {
    /// A person's.
    static func ask() throws(CommandError) -> String {
        let answer: String?
        do throws(IOError) { answer = try Terminal().ask("URL of the server: ") } catch { throw .failed("\(error)") }
        guard let answer, !answer.isEmpty else { throw .failed("no URL was given") }
        return answer
    }

    static func request(_ url: String, by way: FirstRules.Way) throws(CommandError) -> ExplainedRequest {
        let shown = Console.printable(url)
        guard url.contains("://") else {
            throw .failed("'\(shown)' is no whole URL: say http://\(shown) or https://\(shown)")
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .failed(
                "'\(Console.printable(scheme))' is no scheme that can be set up: only http and https servers are asked")
        }
        let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil)
        var request: ExplainedRequest
        do throws(ExplanationError) { request = try ExplainedRequest(method: "GET", url: url, client: client) } catch {
            throw .failed(error.sentence)
        }
        if request.urlUser != nil {
            throw .failed("the URL has a user in it: say --user NAME, and the password is asked for")
        }
        guard (try? HostPattern(request.host)) != nil else {
            throw .failed("the host of '\(shown)' cannot stand in a rule: say its name in ASCII (xn--…)")
        }
        if request.protocol == .https, way == .plain {
            throw .failed(
                "tools reach an https server through a tunnel, which the proxy sees nothing of: say --intercept, and it looks "
                    + "in (the tools then have to trust it), or --upgrade, and tools ask for \(clientURL(of: request)) instead"
            )
        }
        if request.protocol == .http, way != .plain {
            throw .failed("--intercept and --upgrade are for https URLs, and this is one of http")
        }
        request.isInTunnel = way == .intercept
        return request
    }

    /// The login that the server asks for.
    static func wanted(
        at request: ExplainedRequest, by configuration: Configuration
    ) throws(CommandError) -> WantedLogin {
        let response = try response(to: request, by: configuration)
        guard response.status == 401 else {
            throw .failed(
                "the server answers \(response.status) and asks for no login, so there is nothing to set up; where it shows a "
                    + "login page, see 'attache help forms', and where it wants a key unasked, 'attache help unasked'")
        }
        var parser = ChallengeParser()
        for line in response.lines { parser.parse(Array(line.utf8).span) }
        let origin = Origin(host: request.host, port: request.port, protocol: request.protocol)
        let lines = Console.printable(response.lines.joined(separator: ", "))
        guard !response.lines.isEmpty else {
            throw .failed(
                "the server answers 401 and does not say how to log in; 'attache help unasked' has the rules for such servers"
            )
        }
        guard let wanted = WantedLogin(ChallengeOrder().offers(in: parser.challenges, from: origin)) else {
            throw .failed("the server asks for a login that nobody here can answer: \(lines)")
        }
        let realm = wanted.realm.map { ", realm \"\(Console.printable($0))\"" } ?? ""
        Console.print("the server answers 401 and asks for \(wanted.words)\(realm)")
        if wanted.isReadable {
            Console.error("over http \(wanted.noun) goes in clear: everybody on the way to the server can read it")
        }
        return wanted
    }

    /// The server's answer to the login, which is sent once.
    static func status(
        of request: ExplainedRequest, with login: FirstLogin, by configuration: Configuration
    ) throws(CommandError) -> Int {
        let response = try ServerProbe.response(to: request, by: configuration, trying: try login.credentials())
        guard response.status != 401 else {
            throw .failed(
                "the server refuses \(login.subject) with that \(login.wanted.kind == .token ? "value" : "password"); it was "
                    + "tried once, and nothing was written")
        }
        // A server in trouble has said nothing about the login.
        guard response.status < 500 else {
            throw .failed(
                "the server answers \(response.status) to the login of \(login.subject), which says neither yes nor no; nothing "
                    + "was written")
        }
        return response.status
    }

    private static func response(
        to request: ExplainedRequest, by configuration: Configuration
    ) throws(CommandError) -> ChallengeProbe.Response {
        do throws(CommandError) { return try ServerProbe.response(to: request, by: configuration) } catch {
            guard case .failed(let sentence) = error else { throw error }
            if sentence.contains("do not let it connect") {
                throw .failed(
                    "\(sentence): DNS leads the name to this machine or the local link; where that is meant, write the name "
                        + "into /etc/hosts, or the address into the URL")
            }
            guard sentence.contains("is not trusted: ") else { throw error }
            throw .failed(
                "\(sentence); 'attache trust \(request.host):\(request.port)' shows why, and --anchor FILE names roots of "
                    + "your own")
        }
    }

    /// The URL that tools ask for.
    static func clientURL(of request: ExplainedRequest, upgraded: Bool = true) -> String {
        guard upgraded, request.protocol == .https else { return request.url }
        let host = request.host.contains(":") ? "[\(request.host)]" : request.host
        return "http://\(host)\(request.port == 443 ? "" : ":\(request.port)")\(request.target)"
    }
}
