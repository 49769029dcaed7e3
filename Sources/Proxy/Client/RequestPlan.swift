import Authentication
import Bytes
import Challenges
import Credentials
import Forwarding
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

extension Downstream {
    /// The plan for a request whose head is there.
    enum Plan {
        /// Forward the request to the exchange's destination.
        case forward
        case tunnel(Destination)
        /// The request is for the proxy itself.
        case answerOptions
    }

    /// The part of a plan that needs no destination.
    enum Purpose {
        case forward
        case tunnel
        case answerOptions
    }

    /// Tells what the request is for.
    /// - Throws: the refusal of one that this proxy does not carry out, wherever it leads.
    func purpose(of exchange: Exchange) throws(ExchangeFailure) -> Purpose {
        let request = exchange.request
        let head = exchange.headBytes
        do throws(HTTPError) { try exchange.body.check(exchange.inbound) } catch { throw .refused(Refusal(error)) }
        if Via.ours.occurs(in: request.fields, of: head.readable) {
            throw .refused(
                Refusal(.badGateway, .proxyLoopDetected, "the request came back to this proxy: there is a loop"))
        }
        if let tunnel {
            try checkTarget(of: exchange, in: tunnel)
        } else {
            if request.target.form == .authority { return .tunnel }
            if request.target.form == .asterisk, request.target.authority == nil { return .answerOptions }
            try checkTarget(of: exchange)
        }
        if request.maxForwards == 0 {
            if request.method == .options { return .answerOptions }
            throw .refused(
                Refusal(.methodNotAllowed, .httpRequestDenied, "this proxy does not answer TRACE requests itself"))
        }
        return .forward
    }

    private func checkTarget(of exchange: Exchange) throws(ExchangeFailure) {
        let target = exchange.request.target
        switch target.scheme {
        case .http, .https: return
        case nil:
            throw .refused(
                Refusal(
                    .badRequest, .httpRequestError,
                    "this is a forward proxy: set http_proxy in the client, so that it sends complete URLs"))
        case .ftp:
            guard [.get, .head, .put].contains(exchange.request.method) else {
                throw .refused(
                    Refusal(
                        .methodNotAllowed, .httpRequestError, "for ftp URLs only GET, HEAD and PUT are supported",
                        fields: [(name: "Allow", value: "GET, HEAD, PUT")]))
            }
        case .other:
            throw .refused(Refusal(.notImplemented, .httpRequestError, "only http, https and ftp URLs are forwarded"))
        }
    }

    /// Checks that a request in a tunnel is for the tunnel's server. It may get a credential on the way, which is for
    /// that server alone.
    private func checkTarget(
        of exchange: Exchange, in tunnel: InterceptedTunnel
    ) throws(ExchangeFailure) {
        let request = exchange.request
        let head = exchange.headBytes
        if let misdirection = tunnel.misdirection { throw .refused(misdirection) }
        if request.target.form == .authority {
            throw .refused(
                Refusal(.notImplemented, .httpRequestError, "this proxy opens no tunnel inside a tunnel"))
        }
        // Some tools leave the port out of Host; in a URL without a port it is the default of the scheme.
        let isHost = request.target.authority == nil
        let usualPort = isHost ? tunnel.port : tunnel.scheme.defaultPort
        let isForTunnel =
            (request.target.scheme ?? tunnel.scheme) == tunnel.scheme
            && request.authority.map { tunnel.leads(to: $0, in: head.readable, usualPort: usualPort) } ?? true
        guard isForTunnel else {
            let place = String(decoding: tunnel.bracketedHost, as: UTF8.self)
            throw .refused(
                Refusal(
                    .misdirectedRequest, .httpRequestError,
                    "the tunnel was opened to \(place) port \(tunnel.port), but the request in it is for another server"
                ))
        }
        if isHost, request.authority?.explicitPort == nil, tunnel.port != tunnel.scheme.defaultPort {
            request.assume(port: tunnel.port)
        }
        if let failure = tunnel.takeFailure() { throw .refused(failure) }
    }

    /// Refuses a request that the rules do not allow to reach its destination.
    func permit(_ exchange: Exchange, to destination: Destination) throws(ExchangeFailure) {
        if destination.route.action == .deny {
            let origin = destination.origin
            throw .refused(
                Refusal(
                    .forbidden, .httpRequestDenied,
                    "the rules of this proxy do not allow requests to \(origin.hostText) port \(origin.port)"))
        }
        if let address = destination.relayedAddress { try check(address, of: destination, asked: exchange) }
        if exchange.policy.rules.speaks(ofAny: .clientCredentials) {
            try checkCredentials(of: exchange, to: destination)
        }
    }

    @inline(never)
    private func checkCredentials(of exchange: Exchange, to destination: Destination) throws(ExchangeFailure) {
        let head = exchange.headBytes
        if exchange.policy.rules.speaks(of: .placeholders),
            WrittenPlaceholder.mayBe(in: exchange.request, of: head.readable)
        {
            try findPlaceholder(in: exchange, to: destination)
        }
        if exchange.policy.rules.speaks(of: .refusedCredentials), exchange.request.target.form != .authority {
            try refuseCredentials(of: exchange, to: destination.origin)
        }
    }

    /// Finds the placeholder that a credential replaces, and refuses a request that has one at another place, or for another
    /// server. No server is asked then.
    private func findPlaceholder(in exchange: Exchange, to destination: Destination) throws(ExchangeFailure) {
        let head = exchange.headBytes
        let placeholders = exchange.policy.rules.placeholders
        do throws(WrittenPlaceholder.Misplaced) {
            guard let found = try WrittenPlaceholder.find(placeholders, in: exchange.request, of: head.readable)
            else { return }
            if let obstacle = obstacle(to: found.placeholder, in: exchange, to: destination) {
                throw WrittenPlaceholder.Misplaced(found.placeholder, obstacle)
            }
            exchange.credentials.placeholder = found
        } catch { throw .refused(refusal(of: error, in: exchange)) }
    }

    /// The reason why no credential replaces the placeholder in this request; nil if it is replaced.
    private func obstacle(
        to placeholder: Placeholders.Placeholder, in exchange: Exchange, to destination: Destination
    ) -> String? {
        if exchange.request.target.form == .authority { return "in a CONNECT" }
        if exchange.request.method.isEchoed { return "in a TRACE, whose response would show it" }
        let origin = destination.origin
        let server = "for \(origin.hostText) port \(origin.port)"
        let space = ProtectionSpace(
            origin: destination.challenger.origin, realm: nil, authenticationMethod: .default)
        let rule = delegate(in: exchange).rule(for: space, failures: 0)
        guard rule.hasPlaceholder, case .use(let names) = rule.action, let name = names.first,
            name.hasSameBytes(as: placeholder.credential)
        else { return origin.isSecure ? server : "\(server) by http" }
        guard [.http, .https].contains(origin.authority.protocol) else { return server }
        if !origin.isSecure, !destination.hops.isEmpty {
            return "\(server) by http, where a parent proxy could read it"
        }
        return nil
    }

    /// The client's address in the audit trail.
    var shownAddress: String { address.map { "\($0.unmapped)" } ?? ClientIdentity.local }

    private func refusal(of misplaced: WrittenPlaceholder.Misplaced, in exchange: Exchange) -> Refusal {
        let placeholder = misplaced.placeholder
        let owner = placeholder.rule.map { "rule \($0.title)" } ?? "credential \(placeholder.credential)"
        let sentence =
            "\(owner) has a placeholder that is replaced only there, and this request has it \(misplaced.place)"
        metrics.add(to: .placeholdersMisplaced)
        let user = exchange.record.facts.user.map { JournalText.printable($0, longest: 64) }
        shared.audit.note(
            AuditEvent(
                .placeholderMisplaced, by: .client(address: shownAddress, user: user),
                credential: placeholder.credential, details: sentence))
        return Refusal(.forbidden, .httpRequestDenied, sentence)
    }

    /// Refuses a request whose client brings a credential of its own, where a rule says `authorization refuse`. The server is
    /// not asked, and the credential goes nowhere.
    private func refuseCredentials(of exchange: Exchange, to origin: UpstreamServer) throws(ExchangeFailure) {
        let host = origin.host
        let rules = exchange.policy.rules
        let refused = rules.refusedCredentials(
            host: host.span, port: origin.port, protocol: origin.authority.protocol, isSecure: origin.isSecure,
            client: identity(in: exchange))
        guard let refused else { return }
        exchange.body.refuseTrailers()
        do throws(HTTPError) { try exchange.body.check(exchange.inbound) } catch { throw .refused(Refusal(error)) }
        let head = exchange.headBytes
        // A placeholder is not the client's own credential.
        let placeholder = exchange.credentials.placeholder.flatMap { $0.isAlone(in: head.readable) ? $0.field : nil }
        let place = refused.place(
            in: exchange.request, of: head.readable, isInTunnel: tunnel != nil, except: placeholder)
        guard let place else { return }
        if case .parameter(let name) = place { exchange.record.hideParameter(name.utf8Span.span) }
        metrics.add(to: .clientCredentialsRefused)
        throw .refused(
            Refusal(
                .forbidden, .httpRequestDenied,
                "rule \(refused.rule.title) lets no client bring a credential of its own, and this request has one "
                    + place.words))
    }

    /// Checks an address. If a parent looks the name up, its address is unknown here; a literal address is checked all
    /// the same.
    private func check(
        _ address: IPAddress, of destination: Destination, asked exchange: Exchange
    ) throws(ExchangeFailure) {
        let origin = destination.origin
        let egress = exchange.policy.rules.egress
        if let kind = shared.ownListeners.kind(at: address, port: origin.port),
            kind == .proxy || !exchange.asksForPractice
        {
            throw .refused(Refusal(kind, host: origin.hostText, port: origin.port))
        }
        if destination.isProhibited {
            throw .refused(.prohibited([address], of: origin.hostText, port: origin.port, by: egress))
        }
    }

    /// The destination of the request, by the rules that apply to it.
    func destination(of exchange: Exchange) throws(ExchangeFailure) -> Destination {
        if let tunnel {
            let host = tunnel.host
            let rules = exchange.policy.rules
            guard let address = tunnel.address else {
                return upstreams.destination(tunnel.scheme, host: host.span, port: tunnel.port, by: rules)
            }
            if let known = tunnel.destination, known.rules === rules { return known }
            let found = upstreams.destination(tunnel.scheme, host: host.span, port: tunnel.port, at: address, by: rules)
            tunnel.destination = found
            return found
        }
        guard let authority = exchange.request.authority else {
            throw .refused(Refusal(HTTPError(.client, .missingHost)))
        }
        let head = exchange.headBytes
        // A tunnel is made for https, no matter what is spoken in it.
        let scheme = exchange.request.target.scheme ?? .https
        return upstreams.destination(
            scheme, host: head.readable.extracting(authority.host), port: port(of: authority, in: exchange),
            by: exchange.policy.rules)
    }

    private func port(of authority: Authority?, in exchange: Exchange) -> UInt16 {
        authority?.explicitPort ?? exchange.request.target.scheme?.defaultPort ?? 80
    }

    // MARK: - For the record

    /// Notes all that the log and the metrics will know of the request.
    func record(_ exchange: Exchange) {
        let request = exchange.request
        exchange.record.facts.version = request.version
        guard exchange.record.parts.contains(.requestLine) else { return }
        if let tunnel {
            recordTarget(of: exchange, in: tunnel)
            return recordAgent(of: exchange)
        }
        let head = exchange.headBytes
        let authority = request.authority
        let form: ExchangeRecord.TargetForm =
            switch (request.target.form, request.target.scheme) {
            case (.authority, _): .authority
            case (_, .https): .https
            case (_, .ftp): .ftp
            case (_, nil): .path
            default: .http
            }
        let isPath = form == .path
        exchange.record.setTarget(
            method: head.readable.extracting(request.methodName), form: form,
            host: head.readable.extracting(isPath ? 0..<0 : authority.map(\.bracketedHost) ?? 0..<0),
            port: Int(port(of: authority, in: exchange)),
            path: head.readable.extracting(isPath ? request.target.text : request.target.path))
        recordAgent(of: exchange)
    }

    private func recordAgent(of exchange: Exchange) {
        guard exchange.record.parts.contains(.agent) else { return }
        let head = exchange.headBytes
        let fields = exchange.request.fields
        var index = fields.firstIndex(of: .referer)
        while let line = index {
            exchange.record.addReferer(head.readable.extracting(fields[line].value))
            index = fields.index(of: .referer, after: line)
        }
        index = fields.firstIndex(of: .userAgent)
        while let line = index {
            exchange.record.addAgent(head.readable.extracting(fields[line].value))
            index = fields.index(of: .userAgent, after: line)
        }
    }

    /// Notes the URL of a request in a tunnel.
    func recordTarget(of exchange: Exchange, in tunnel: InterceptedTunnel) {
        guard exchange.record.parts.contains(.requestLine) else { return }
        let request = exchange.request
        let head = exchange.headBytes
        let host = tunnel.bracketedHost
        exchange.record.setTarget(
            method: head.readable.extracting(request.methodName), form: tunnel.scheme == .https ? .https : .http,
            host: host.span, port: Int(tunnel.port), path: head.readable.extracting(request.target.path))
    }

    // MARK: - Its trace

    /// W3C Trace Context, level 1: a request continues the trace that its client names, or begins one.
    func trace(_ exchange: Exchange, to destination: Destination, for collector: SpanCollector?) {
        let head = exchange.headBytes
        let fields = exchange.request.fields
        let parent = context(in: fields, of: head.readable)
        // Each message gets its own `traceparent`.
        fields.withhold("traceparent", in: head.readable)
        // `tracestate` means nothing without `traceparent` (section 4.2).
        if parent == nil { fields.withhold("tracestate", in: head.readable) }
        guard parent != nil || destination.route.trace == .start else { return }
        exchange.record.facts.trace = RequestTrace(
            continuing: parent, samples: Int.random(in: 0..<100) < collector?.sample ?? 0,
            isCollected: collector != nil, on: loop)
    }

    /// The client's `traceparent`; nil if it is missing or invalid. Two are invalid (section 4.2).
    private func context(in fields: FieldTable, of head: Span<UInt8>) -> TraceContext? {
        var found: TraceContext?
        var count = 0
        for field in fields where head.extracting(field.name).equalsIgnoringCase("traceparent") {
            found = TraceContext(head.extracting(field.value))
            count += 1
        }
        return count == 1 ? found : nil
    }
}
