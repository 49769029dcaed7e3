import Authentication
import GSSAPI
import IO
import Synchronization

/// The keys of this proxy as a Kerberos service, for all principals that the keytab has keys of; read again when the
/// file changes. What cannot be used leaves what was there.
public final class ServiceKeytab: Sendable {
    public let path: String
    private let state = Mutex(State())

    private struct State {
        var credential: AcceptorCredential?
        /// Of the file that was read last, usable or not.
        var stamp: FileStamp?
        /// Why that was of no use.
        var problem: LoginError?
    }

    /// Nothing is read yet: call `refresh` first.
    /// - Throws: when Kerberos is not installed here.
    public init(path: String) throws(LoginError) {
        self.path = path
        guard GSSAPILibrary.isInstalled else {
            throw LoginError(.unavailable, "MIT Kerberos is not installed here (Debian's libgssapi-krb5-2)")
        }
    }

    /// Looks whether the file has changed. Blocks: never on a loop.
    /// - Returns: why it is of no use, every time until it is again.
    public func refresh() -> LoginError? {
        let stamp = FileStamp(path: path)
        let known = state.withLock { $0.stamp == stamp && stamp != nil ? $0 : nil }
        if let known { return known.problem }
        do throws(GSSAPIError) {
            let credential = try AcceptorCredential(keytab: path)
            state.withLock { $0 = State(credential: credential, stamp: stamp) }
            return nil
        } catch {
            let problem = LoginError(error)
            state.withLock { ($0.stamp, $0.problem) = (stamp, problem) }
            return problem
        }
    }

    /// A new login of a client's.
    /// - Parameter channel: the TLS connection that it comes over; nil: it comes in clear.
    public func login(over channel: ChannelBinding?) throws(LoginError) -> ServiceLogin {
        let (credential, problem) = state.withLock { ($0.credential, $0.problem) }
        guard let credential else { throw problem ?? LoginError(.unavailable, "the keytab \(path) was not read yet") }
        do throws(GSSAPIError) {
            return ServiceLogin(try AcceptingContext(credential, channel: channel?.applicationData))
        } catch {
            throw LoginError(error)
        }
    }
}
