import Authentication
import Bytes
import HTTP
import Rules
import Telemetry

/// Decides what is done with a request, once its head is there: whether the client may ask at all, and which way it goes.
struct RequestPlanning {
    enum Plan {
        case forward(Destination)
        case tunnel(Destination)
        /// It is for the proxy itself.
        case answerOptions
    }

    let session: ClientSession
    let exchange: Exchange

    /// Takes note of the request, and sends clients away that are not served.
    func admitClient() throws(ExchangeFailure) {
        exchange.body.begin(exchange.request.framing, limits: exchange.policy.limits.request)
        record()
        guard exchange.policy.rules.clients.permits(session.address) else {
            throw .refused(Refusal(.forbidden, .httpRequestDenied, "this proxy does not serve clients at your address"))
        }
    }

    func plan() throws(ExchangeFailure) -> Plan {
        let request = exchange.request
        let head = exchange.headBytes
        if Via.ours.occurs(in: request.fields, of: head.readable) {
            throw .refused(
                Refusal(.badGateway, .proxyLoopDetected, "the request came back to this proxy: it runs in a circle"))
        }
        if request.target.form == .authority { return .tunnel(try destination()) }
        if request.target.form == .asterisk, request.target.authority == nil { return .answerOptions }
        try checkTarget()
        if request.maxForwards == 0 {
            if request.method == .options { return .answerOptions }
            throw .refused(
                Refusal(.methodNotAllowed, .httpRequestDenied, "this proxy does not answer TRACE requests itself"))
        }
        return .forward(try destination())
    }

    /// What the log and the metrics will know of the request.
    private func record() {
        let request = exchange.request
        let head = exchange.headBytes
        let authority = request.authority
        let form: ExchangeRecord.TargetForm =
            switch (request.target.form, request.target.scheme) {
            case (.authority, _): .authority
            case (_, .https): .https
            case (_, nil): .path
            default: .http
            }
        let isPath = form == .path
        exchange.record.minorVersion = request.version == .http11 ? 1 : 0
        exchange.record.setTarget(
            method: head.readable.extracting(request.methodName), form: form,
            host: head.readable.extracting(isPath ? 0..<0 : authority.map(\.bracketedHost) ?? 0..<0),
            port: Int(port(of: authority)),
            path: head.readable.extracting(isPath ? request.target.text : request.target.path))
    }

    private func port(of authority: Authority?) -> UInt16 {
        authority?.explicitPort ?? exchange.request.target.scheme?.defaultPort ?? 80
    }

    private func checkTarget() throws(ExchangeFailure) {
        let target = exchange.request.target
        switch target.scheme {
        case .http: return
        case nil:
            throw .refused(
                Refusal(
                    .badRequest, .httpRequestError,
                    "this is a forward proxy: it wants a whole URL, as a client sends that has it set as http_proxy"))
        case .https, .ftp:
            let scheme = target.scheme == .https ? "https" : "ftp"
            throw .refused(
                Refusal(
                    .notImplemented, .httpRequestError,
                    "\(scheme) URLs are not supported yet; use CONNECT, or an http URL"))
        case .other:
            throw .refused(Refusal(.notImplemented, .httpRequestError, "only http URLs are forwarded"))
        }
    }

    /// Whom the request is for, by the rules that apply to it.
    private func destination() throws(ExchangeFailure) -> Destination {
        let request = exchange.request
        guard let authority = request.authority else { throw .refused(Refusal(HTTPError(.client, .missingHost))) }
        let port = port(of: authority)
        let head = exchange.headBytes
        let origin = session.worker.origin(host: head.readable.extracting(authority.host), port: port)
        let route = origin.route(by: exchange.policy.rules)
        exchange.record.route = route.rule?.name
        if route.action == .deny {
            throw .refused(
                Refusal(
                    .forbidden, .httpRequestDenied,
                    "the rules of this proxy do not let requests go to \(origin.hostText) port \(port)"))
        }
        return Destination(origin: origin, route: route)
    }
}
