import Authentication
import Bytes
import Credentials
import HTTP
import IO
import Model
import Rules
import Telemetry
import Transport
import Upstream

/// A request that the proxy makes itself, to learn whether a server still accepts a credential. It repeats a request
/// that was accepted before, with a new login. It takes the path of a client's request, under the same egress rules and
/// trust.
struct ProbeExchange {
    private let upstreams: Upstreams
    private let probe: Evidence.Probe
    private let run: Forwarding

    private var exchange: Exchange { run.exchange }

    init(_ probe: Evidence.Probe, over upstreams: Upstreams) {
        self.upstreams = upstreams
        self.probe = probe
        run = Forwarding(policy: upstreams.policy, on: upstreams.loop)
        exchange.probe = probe
    }

    /// Makes the request. The challenges that it meets give the verdict; without a challenge the attempt has none.
    func run() async {
        let loop = upstreams.loop
        let downstream = try? Downstream(ofOwn: upstreams)
        if let downstream, let server = Origin(serverName: probe.attempt.evidence.server) {
            if server.isProxy { await askParent(server, downstream) } else { await ask(server, downstream) }
        }
        probe.attempt.settle(.none, now: loop.wallTime)
        probe.verdict.keep(probe.attempt.verdict ?? Account.Verdict.none)
        note(downstream?.metrics)
        run.dissolve(into: loop.buffers)
        downstream?.closeOwn()
    }

    /// Records the result in the log and the metrics.
    private func note(_ metrics: Metrics?) {
        let attempt = probe.attempt
        let (outcome, counter): (String, Metrics.Counter) =
            switch attempt.verdict {
            case .accepted?: ("accepted", .probesAccepted)
            case .refused?: ("refused", .probesRefused)
            default: ("undecided", .probesUndecided)
            }
        metrics?.add(to: counter)
        let space = Origin(serverName: attempt.evidence.server).map {
            ProtectionSpace(origin: $0, realm: nil, authenticationMethod: .default)
        }
        var target = ""
        if let (method, path) = requestLine {
            // A query may hold secrets, which must not be logged.
            let end = path.firstIndex(of: .question) ?? path.endIndex
            target = "\(method.span.text) \(Array(path[..<end]).span.text): "
        }
        upstreams.shared.audit.note(
            AuditEvent(
                .credentialProbed, by: .proxy, space, credential: attempt.version.name,
                details: target + outcome))
    }

    private func ask(_ server: Origin, _ downstream: Downstream) async {
        guard let scheme = Scheme(server), let (method, target) = requestLine else { return }
        let host = server.host.utf8.contains(.colon) ? "[\(server.host)]" : server.host
        let isWritten = write {
            $0.append(method)
            $0.append(" \(server.protocol.rawValue)://\(host):\(server.port)")
            $0.append(target)
            $0.append(" HTTP/1.0\r\nHost: \(host):\(server.port)\r\n")
        }
        guard isWritten else { return }
        await send(to: scheme, host: server.host, port: server.port, downstream, purpose: .trial)
    }

    /// Asks a parent with the kind of request that a client sent it.
    private func askParent(_ server: Origin, _ downstream: Downstream) async {
        guard let (method, target) = requestLine else { return }
        let isTunnel = method.span.equals("CONNECT" as StaticString)
        let isWritten = write {
            $0.append((isTunnel ? "GET https://" : "\(method.span.text) ") as String)
            $0.append(target)
            $0.append("\(isTunnel ? "/" : "") HTTP/1.0\r\n")
        }
        guard isWritten, let authority = exchange.request.target.authority,
            let scheme = exchange.request.target.scheme
        else { return }
        let head = exchange.headBytes
        let host = head.readable.extracting(authority.host).text
        let port = authority.explicitPort ?? scheme.defaultPort ?? 80
        guard isTunnel else { return await send(to: scheme, host: host, port: port, downstream, purpose: .own) }
        let destination = upstreams.destination(
            scheme, host: host.utf8Span.span, port: port, by: exchange.policy.rules)
        guard !destination.isProhibited,
            let parent = destination.hops.compactMap(\.parent).first(where: { $0.origin.authority == server })
        else { return }
        exchange.destination = destination
        let connector = ParentConnector(downstream: downstream, exchange: exchange, parent: parent)
        if let tunnel = try? await connector.openTunnel(to: destination, resuming: false) {
            tunnel.connection.stream.close()
        }
    }

    private func send(
        to scheme: Scheme, host: String, port: UInt16, _ downstream: Downstream, purpose: Forwarding.Purpose
    ) async {
        let destination = upstreams.destination(
            scheme, host: host.utf8Span.span, port: port, by: exchange.policy.rules)
        if destination.isProhibited { return }
        do throws(ExchangeFailure) {
            try await upstreams.renewWays(
                to: destination, by: exchange.policy, for: downstream.waiting(on: exchange))
            try await run.ask(destination, isUpgraded: false, for: downstream, purpose: purpose)
        } catch { return }
        let upstream = exchange.upstream
        await upstream.discardBody(
            upTo: Forwarding.discardLimit, limits: exchange.policy.limits.response,
            within: Forwarding.discardTime)
        guard let connection = upstream.detach() else { return }
        // A connection that is logged in serves no client.
        if connection.isLoggedIn { connection.stream.close() } else { connection.rest(for: ResponseRelay.keptFor) }
    }

    /// The method and the target of the sample.
    private var requestLine: (method: [UInt8], target: [UInt8])? {
        let content = probe.sample.content
        guard let space = content.firstIndex(of: .space), let end = content.firstIndex(of: .carriageReturn),
            space < end
        else { return nil }
        return (Array(content[..<space]), Array(content[content.index(after: space)..<end]))
    }

    /// - Returns: false if the sample makes no request.
    private func write(_ requestLine: (ByteBuffer) -> Void) -> Bool {
        let head = exchange.headBytes
        requestLine(head)
        let content = probe.sample.content
        guard let lineEnd = content.firstIndex(of: .lineFeed) else { return false }
        head.append(Array(content[content.index(after: lineEnd)...]))
        head.append("\r\n" as StaticString)
        do throws(HTTPError) { try exchange.beginOwn() } catch { return false }
        return true
    }
}

extension Scheme {
    fileprivate init?(_ server: Origin) {
        switch server.protocol {
        case .http: self = .http
        case .https: self = .https
        case .ftp: self = .ftp
        default: return nil
        }
    }
}
