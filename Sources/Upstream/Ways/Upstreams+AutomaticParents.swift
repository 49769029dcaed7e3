import Authentication
import Bytes
import HTTP
import IO
import Model
import PAC
import Rules

/// Parents from a PAC file.
extension Upstreams {
    /// The milliseconds for which a loop reuses the result of a PAC file.
    private static let keptFor: UInt64 = 30_000

    /// Finds the ways of the destination if they are not known.
    ///
    /// - Throws: if no way is found. A request that needs a parent is never sent without one.
    public func renewWays(
        to destination: Destination, by policy: Policy, for client: WaitingClient
    ) async throws(ExchangeFailure) {
        guard !destination.knowsWays(at: loop.now), let parentList = destination.route.parentList else { return }
        let origin = destination.origin
        let host = origin.host
        var found: [String: [PACWay]] = [:]
        var trouble: (group: Configuration.Parent, error: PACError?)?
        for case .parent(let group) in parentList.hops where group.automatic != nil && !group.excepts(host.span) {
            do throws(PACError) {
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
        let hops = hops(of: parentList, to: origin, found: found)
        if hops.isEmpty, let trouble {
            if case .busy(let seconds) = trouble.error {
                let sentence = "the PAC file of the parent \(trouble.group.name) is asked more than it can answer"
                throw .refused(.busy(sentence, retryAfter: seconds))
            }
            let reason = trouble.error.map { "\($0)" } ?? "it names none that is understood"
            throw .refused(
                Refusal(
                    .badGateway, .proxyConfigurationError,
                    "the PAC file of the parent \(trouble.group.name) says no way to \(origin.hostText): \(reason)"))
        }
        destination.take(hops, until: loop.now &+ Self.keptFor)
    }
}

extension Configuration.Parent {
    /// The server that a PAC file's result names; nil for `DIRECT`.
    public static func server(of way: PACWay) -> Server? {
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
