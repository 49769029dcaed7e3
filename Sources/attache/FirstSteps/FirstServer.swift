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
                    + "(tools must then trust the proxy's CA), or --upgrade to let tools ask for \(clientURL(of: request))"
            )
        }
        if request.protocol == .http, way != .plain {
            throw .failed("--intercept and --upgrade are for https URLs, but this is an http URL")
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
                "the server answers \(response.status) and asks for no login, so there is nothing to set up; for a "
                    + "login page see 'attache help forms', for a key with every request 'attache help preemptive'")
        }
        var parser = ChallengeParser()
        for line in response.lines { parser.parse(Array(line.utf8).span) }
        let origin = Origin(host: request.host, port: request.port, protocol: request.protocol)
        let lines = Console.printable(response.lines.joined(separator: ", "))
        guard !response.lines.isEmpty else {
            throw .failed(
                "the server answers 401 and does not say how to log in; for such servers see 'attache help preemptive'"
            )
        }
        guard let wanted = WantedLogin(ChallengeOrder().offers(in: parser.challenges, from: origin)) else {
            throw .failed("the server asks for a login that the proxy does not know: \(lines)")
        }
        let realm = wanted.realm.map { ", realm \"\(Console.printable($0))\"" } ?? ""
        Console.print("the server answers 401 and asks for \(wanted.words)\(realm)")
        if wanted.isReadable {
            Console.error("http sends \(wanted.noun) unencrypted: anyone on the way to the server can read it")
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
                "the server refuses \(login.subject) with that \(login.wanted.kind == .token ? "value" : "password"), which was "
                    + "tried once; nothing was written")
        }
        // A server in trouble has said nothing about the login.
        guard response.status < 500 else {
            throw .failed(
                "the server answers \(response.status) to the login of \(login.subject): it neither accepts nor refuses it; nothing "
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
                    "\(sentence): the name resolves to this machine or the local link; if that is right, write the name "
                        + "into /etc/hosts, or the address into the URL")
            }
            guard sentence.contains("is not trusted: ") else { throw error }
            throw .failed(
                "\(sentence); run 'attache trust \(request.host):\(request.port)' to see why, or use --anchor FILE for a CA of "
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
