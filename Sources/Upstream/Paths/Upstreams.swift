import Authentication
import Bytes
import HTTP
import IO
import Model
import PAC
import Rules
import Telemetry
import Transport

/// The upstream side of one loop: the requested servers, the connections to them, and everything needed to make more.
/// It belongs to the loop, so nothing is locked.
public final class Upstreams {
    public let loop: EventLoop
    public let shared: SharedState
    public let network: any Network
    public let metrics: Metrics
    /// The policy of requests that begin now.
    public private(set) var policy: Policy
    /// Whether requests no longer begin on idle connections.
    public private(set) var isDraining = false
    private var origins: OriginTable
    /// The connections that are logged in for every client. The idle pool lists them too, and closes them with the
    /// others.
    let logins = AuthenticatedConnections(limit: AuthenticatedConnections.ofLoop)

    /// - Parameters:
    ///   - network: the access to other hosts.
    ///   - idleLimit: the limit of idle connections of this loop.
    public init(policy: Policy, shared: SharedState, on loop: EventLoop, in network: any Network, idleLimit: Int) {
        self.loop = loop
        self.shared = shared
        self.policy = policy
        metrics = Metrics()
        origins = OriginTable(
            idleLimit: idleLimit, tlsPolicyEpoch: shared.tlsPolicyEpoch, metrics: metrics, parents: shared.parents)
        self.network = network
    }

    /// The destination of requests for that scheme, host (in any case) and port by these rules.
    public func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet) -> Destination {
        origins.destination(scheme, host: host, port: port, by: rules)
    }

    /// The destination of requests for that server at an address that the client named.
    public func destination(
        _ scheme: Scheme, host: Span<UInt8>, port: UInt16, at address: IPAddress, by rules: RuleSet
    ) -> Destination {
        origins.destination(scheme, host: host, port: port, at: address, by: rules)
    }

    /// Makes new requests follow this policy. Connections that another policy allowed are not reused.
    public func adopt(_ policy: Policy) {
        self.policy = policy
        origins.pool.closeAll()
    }

    /// Closes the idle connections. From now on no connection is kept for another client.
    public func drain() {
        isDraining = true
        origins.pool.closeAll()
    }

    /// Closes the longest idle connections.
    /// - Returns: the number of closed connections.
    public func closeOldest(_ count: Int) -> Int { origins.pool.closeOldest(count) }

    /// Closes the connections that the retirement names.
    public func retire(_ retirement: Retirement) {
        logins.retire(retirement)
        if case .tlsPolicyEpoch = retirement { origins.pool.closeOutdated() }
    }
}

/// Parents from a PAC file.
extension Upstreams {
    /// The time for which a loop reuses the result of a PAC file.
    private static let keptFor: Milliseconds = 30_000

    /// Finds the ways of the destination if they are not known.
    ///
    /// - Throws: if no way is found. A request that needs a parent is never sent without one.
    public func renewWays(
        to destination: Destination, by policy: Policy, for client: WaitingClient
    ) async throws(ExchangeFailure) {
        guard !destination.knowsWays(at: loop.now), let parentList = destination.route.parentList else { return }
        let origin = destination.origin
        let host = origin.host
        var found: [String: [PACPath]] = [:]
        var trouble: (group: Configuration.Parent, error: PACFile.Failure?)?
        for case .parent(let group) in parentList.hops where group.automatic != nil && !group.excepts(host.span) {
            do throws(PACFile.Failure) {
                let ways = try await policy.automaticParents[group.name]?
                    .ways(
                        to: origin.authority.protocol.rawValue, host: origin.hostText, port: origin.port, for: client)
                found[group.name] = ways
                if ways?.isEmpty != false { trouble = (group, nil) }
            } catch {
                if case .abandoned = error { throw .clientLost }
                trouble = (group, error)
            }
        }
        let hops = origins.parents.hops(of: parentList, to: host.span, found: found)
        if hops.isEmpty, let trouble {
            if case .busy(let time) = trouble.error {
                let sentence = "the PAC file of the parent \(trouble.group.name) is asked more than it can answer"
                throw .refused(.busy(sentence, retryAfter: time))
            }
            let reason = trouble.error.map { "\($0)" } ?? "it names none that is understood"
            throw .refused(
                Refusal(
                    .badGateway, .proxyConfigurationError,
                    "the PAC file of the parent \(trouble.group.name) says no way to \(origin.hostText): \(reason)"))
        }
        destination.take(hops, until: loop.now + Self.keptFor)
    }
}

extension Configuration.Parent {
    /// The server that a PAC file's result names; nil for `DIRECT`.
    public static func server(of way: PACPath) -> Server? {
        guard case .proxy(let scheme, let host, let port) = way else { return nil }
        let spoken: Scheme =
            switch scheme {
            case .http: .http
            case .https: .https
            case .socks4: .socks4a
            case .socks5: .socks5
            }
        return Server(scheme: spoken, address: Configuration.HostAndPort(host: host, port: port))
    }
}

/// Tries a failed parent again, so that no request has to wait for it.
extension Upstreams {
    /// Records that a connection to the parent failed, for the reason in the sentence. Further failures of connections
    /// that were already in progress change nothing.
    public func failed(_ parent: Parent, because reason: String) {
        if parent.health == .working { probe(parent, because: reason) }
    }

    /// Checks the parent after a pause, again and again until it works.
    private func probe(_ parent: Parent, because reason: String) {
        let pause = parent.failed(because: reason, at: loop.wallTime)
        let alarm =
            parent.probe
            ?? Alarm(on: loop) { [unowned self, unowned parent] in
                let bound = LoopBound((upstreams: self, parent: parent), to: loop)
                loop.spawn { await bound.value.upstreams.look(at: bound.value.parent) }
            }
        parent.probe = alarm
        alarm.set(after: pause)
    }

    private func look(at parent: Parent) async {
        guard case .failing = parent.health else { return }
        let isWanted =
            parent.figures.isFound
            ? policy.automaticParents[parent.name] != nil
            : policy.rules.configuration.parents.contains { $0.servers.contains(parent.server) }
        // A parent of older rules is not checked any longer. If the rules name it again, it is tried.
        guard isWanted, !isDraining else { return parent.worked() }
        let dialer = Dialer(
            network: network, policy: policy, own: shared.ownListeners, loop: loop, wakeup: Wakeup(), metrics: metrics)
        do throws(Refusal) {
            try await dialer.connect(host: parent.origin.hostText, port: parent.origin.port).close()
            parent.worked()
        } catch {
            probe(parent, because: error.sentence)
        }
    }
}
