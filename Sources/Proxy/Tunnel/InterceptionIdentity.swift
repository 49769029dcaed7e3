import IO
import Synchronization
import TLS

/// Who the proxy is to clients in the tunnels that it looks into.
public final class InterceptionIdentity: Sendable {
    /// One for all, so that clients come back by the tickets they were given in an earlier tunnel.
    let context: ServerTLSContext
    private let current: Mutex<LeafCache>

    public init(_ authority: CertificateAuthority) throws(TLSError) {
        context = try ServerTLSContext()
        current = Mutex(LeafCache(authority: authority))
    }

    /// From now on leaves are minted by this one.
    public func adopt(_ authority: CertificateAuthority) {
        current.withLock { $0 = LeafCache(authority: authority) }
    }

    /// Whether the leaf for a name is there, so that nothing need be known of the origin to mint it.
    func hasLeaf(for name: ServerName) -> Bool {
        current.withLock { $0 }.hasLeaf(for: name, at: Self.now)
    }

    /// The leaf for a name; minted off the loop if need be.
    /// - Parameter origin: the origin's certificate, if it was judged good.
    func leaf(for name: ServerName, like origin: Certificate?) async throws(AuthorityError) -> Identity {
        try await current.withLock { $0 }.leaf(for: name, like: origin, at: Self.now) { minting in
            BlockingPool.shared.submit(minting)
        }
    }

    private static var now: Int { SystemClock.epochMilliseconds / 1000 }
}
