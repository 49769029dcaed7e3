import Authentication
import Bytes
import Crypto
import HTTP
import IO
import Rules
import Telemetry
import Upstream

/// The proxy's own requests of a form login. They take the same path as the client's request, with the same trust and
/// the same egress rules.
struct LoginExchange {
    enum Question {
        case get
        /// A POST with the form found on a page.
        case post(FormContent, page: [UInt8])
    }

    let downstream: Downstream
    /// The exchange of the client's request.
    let exchange: Exchange
    let destination: Destination
    let form: Configuration.LoginForm
    /// The run of the proxy's own requests.
    private let run: Forwarding

    private var own: Exchange { run.exchange }

    /// The limit of a page in bytes; pages with a form need less.
    static let pageLimit = 512 * 1024

    init(downstream: Downstream, exchange: Exchange, destination: Destination, form: Configuration.LoginForm) {
        self.downstream = downstream
        self.exchange = exchange
        self.destination = destination
        self.form = form
        run = Forwarding(policy: exchange.policy, on: downstream.loop)
        own.record.facts.user = exchange.record.facts.user
    }

    /// Ends the login's requests.
    func end() { run.dissolve(into: downstream.loop.buffers) }

    func ask(_ question: Question, at target: [UInt8], with jar: CookieJar) async throws(FormLogin.Failure)
        -> LoginPage
    {
        run.reset()
        do throws(ExchangeFailure) { try downstream.confirm(destination, for: exchange) } catch {
            throw .unreachable(error.sentence(by: exchange.way))
        }
        try write(question, at: target, with: jar)
        do throws(ExchangeFailure) { try await run.ask(destination, isUpgraded: false, for: downstream) } catch {
            throw .unreachable(error.sentence(by: own.way))
        }
        let upstream = own.upstream
        if upstream.head.status == .proxyAuthenticationRequired {
            throw .unreachable("the parent proxy asks for a login")
        }
        let pageHead = LoginPageHead(of: upstream, at: target, on: destination.origin.authority)
        let reader = PageReader(upstream, holding: nil, policy: own.policy)
        if let reader {
            do throws(ExchangeFailure) {
                _ = try await reader.read(upTo: Self.pageLimit) { _, _ in false }
            } catch { throw .unreachable(error.sentence(by: own.way)) }
        }
        let page = pageHead.page(reader, of: upstream, as: form)
        upstream.forgetHead()
        return page
    }

    /// Writes the request in HTTP/1.0, so that the server sends no interim responses.
    private func write(_ question: Question, at target: [UInt8], with jar: CookieJar) throws(FormLogin.Failure) {
        let origin = destination.origin
        let serialized = Self.serialized(origin)
        let head = own.headBytes
        if case .post = question { head.append("POST " as StaticString) } else { head.append("GET " as StaticString) }
        head.append(serialized)
        head.append(target)
        head.append(" HTTP/1.0\r\nHost: " as StaticString)
        head.append(String(serialized.dropFirst(origin.isSecure ? 8 : 7)))
        head.append(
            "\r\nAccept: text/html, application/xhtml+xml, */*;q=0.8\r\nAccept-Encoding: gzip\r\n" as StaticString)
        let (fields, client) = (exchange.request.fields, exchange.headBytes)
        // Some servers tie a session to the user agent that began it.
        if let field = fields.first(.userAgent) { head.append(client.readable.extracting(field.line)) }
        let cookies = own.texts.fieldValue
        if jar.append(for: target.span, at: downstream.loop.wallTime, to: cookies) {
            head.append("Cookie: " as StaticString)
            head.append(cookies.readable)
            head.append("\r\n" as StaticString)
        }
        if case .post(let content, let page) = question {
            head.append("Origin: \(serialized)\r\nReferer: \(serialized)")
            head.append(page)
            head.append("\r\nContent-Type: \(content.type)\r\nContent-Length: ")
            head.append(decimal: content.bytes.count)
            head.append("\r\n" as StaticString)
            content.bytes.withBytes { own.inbound.append($0) }
        }
        head.append("\r\n" as StaticString)
        do throws(HTTPError) { try own.beginOwn() } catch { throw .unusableReference }
    }

    /// Serializes the origin (RFC 6454 section 6.1).
    private static func serialized(_ origin: UpstreamServer) -> String {
        let host = origin.hostText.contains(":") ? "[\(origin.hostText)]" : origin.hostText
        let port = origin.port == origin.scheme.defaultPort ? "" : ":\(origin.port)"
        return "\(origin.isSecure ? "https" : "http")://\(host)\(port)"
    }
}
