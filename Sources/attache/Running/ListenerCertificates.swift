import Admin
import Bytes
import Credentials
import IO
import Proxy
import Rules
import TLS
import Telemetry
import Upstream

/// The proxy's own certificates: for listeners with TLS, and for intercepted tunnels. It lives as long as the process,
/// so that a reload keeps all leaves.
final class ListenerCertificates {
    let listeners: [ClientListener]
    /// The CA, with its settings in the rule file.
    private var interception: (authority: Configuration.Authority, state: String?, identity: InterceptionIdentity)?

    private static var now: WallTime { SystemClock.wallTime }

    /// Reads the listeners' certificates; a reload does not change their paths. Blocks.
    init(_ configuration: Configuration) throws(StartError) {
        var listeners: [ClientListener] = []
        for listener in configuration.listeners {
            let place = try ClientListener.Place(listener)
            do throws(FileProblem) {
                let identity = try listener.tls.map { tls throws(FileProblem) in try ListenerIdentity(tls) }
                listeners.append(
                    ClientListener(
                        place, identity: identity, user: listener.client, protocols: .init(listener),
                        balancers: listener.balancers, isTransparent: listener.isTransparent))
            } catch { throw StartError(Self.sentence(on: listener, error)) }
        }
        self.listeners = listeners
    }

    /// Returns the reasons why listeners could not use TLS, a sentence for each. Blocks.
    static func problems(with listeners: [Configuration.Listener]) -> [String] {
        listeners.flatMap { listener in
            (listener.tls.map(ListenerIdentity.problems) ?? []).map { sentence(on: listener, $0) }
        }
    }

    private static func sentence(on listener: Configuration.Listener, _ problem: FileProblem) -> String {
        "cannot listen on \(listener.place) by TLS: \(problem)"
    }

    /// Returns the CA for clients in tunnels under these rules; a missing one is created. Nil if no route intercepts
    /// tunnels. Blocks.
    func interception(for configuration: Configuration) throws(StartError) -> InterceptionIdentity? {
        guard configuration.routes.contains(where: { $0.action == .intercept }) else { return nil }
        if let interception, interception.authority == configuration.authority,
            interception.state == configuration.state
        {
            return interception.identity
        }
        guard let store = CAStore(configuration) else {
            throw StartError(StatePath.unknown(for: "the authority"))
        }
        do throws(CAStore.Problem) {
            try store.open(host: Environment.hostName, at: Self.now)
        } catch { throw StartError("\(error)") }
        do throws(TLSError) {
            let identity = try InterceptionIdentity(store)
            interception = (configuration.authority, configuration.state, identity)
            return identity
        } catch { throw StartError("tunnels cannot be intercepted: \(error)") }
    }

    /// The expiry dates of the certificates in use.
    var expiries: [Expiry] {
        var expiries = listeners.compactMap { listener in
            listener.identity.map {
                Expiry(kind: "certificate of a listener", name: "\(listener.place)", end: $0.expiry)
            }
        }
        if let authority = interception?.identity.authority.leaves?.authority {
            let leaf = authority.identity.leaf
            expiries.append(Expiry(kind: "authority", name: "\(leaf)", end: leaf.notAfter))
        }
        return expiries
    }

    /// Reads changed files again. Blocks.
    /// - Returns: sentences about unusable files.
    func refresh() -> [String] {
        listeners.flatMap { $0.identity?.refresh() ?? [] }.map { "\($0)" }
            + [interception?.identity.authority.refresh(at: Self.now)].compactMap { $0.map { "\($0)" } }
    }
}

extension ClientListener.Place {
    /// The place of a listener in the rule file.
    fileprivate init(_ listener: Configuration.Listener) throws(StartError) {
        switch listener.place {
        case .network(let endpoint): self = .network(SocketAddress(endpoint.address, port: endpoint.port))
        case .local(let socket):
            guard let path = LocalPath(socket.path) else { throw StartError("cannot listen on \(listener.place)") }
            let group = try socket.group.map { name throws(StartError) in
                guard let number = SystemGroup.number(of: name) else {
                    throw StartError("cannot listen on \(listener.place): there is no group \(name) on this machine")
                }
                return number
            }
            self = .local(path, mode: socket.mode, group: group)
        }
    }
}
