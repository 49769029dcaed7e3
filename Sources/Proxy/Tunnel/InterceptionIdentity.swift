import Bytes
import Credentials
import IO
import TLS

/// The proxy's certificates for clients in intercepted tunnels.
public final class InterceptionIdentity: Sendable {
    /// The TLS context of all tunnels, so that clients can resume a session from an earlier tunnel.
    let context: ServerTLSContext
    public let authority: CAStore

    /// - Parameter authority: the CA, opened; when it changes, the new one issues the leaves.
    public init(_ authority: CAStore) throws(TLSError) {
        self.authority = authority
        context = try ServerTLSContext()
    }

    /// Whether the leaf for a name exists already, so that nothing must be known about the origin to issue it.
    func hasLeaf(for name: ServerName) -> Bool {
        authority.leaves?.hasLeaf(for: name, at: SystemClock.wallTime) ?? false
    }

    /// Returns the leaf for a name; issues it off the loop if needed.
    /// - Parameter origin: the origin's certificate, if it was accepted.
    func leaf(for name: ServerName, like origin: Certificate?) async throws(CertificateAuthority.Failure) -> Identity {
        guard let leaves = authority.leaves else { throw .identity(.noCertificate) }
        return try await leaves.leaf(for: name, like: origin, at: SystemClock.wallTime) { minting in
            BlockingPool.shared.submit(minting)
        }
    }
}
