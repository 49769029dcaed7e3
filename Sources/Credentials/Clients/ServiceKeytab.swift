import Authentication
import GSSAPI
import IO
import Synchronization

/// The keys of this proxy as a Kerberos service, for all principals that the keytab has keys of; read again when the
/// file changes. An unusable file leaves the former keys.
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

/// A client's login with the keys of a keytab. Its steps come one after the other. Only so many wait, in turns of the
/// clients' addresses, and the step of a client that leaves is given up.
public final class ServiceLogin: Sendable {
    /// The result of one step.
    public enum Step: Sendable {
        /// The token goes to the client, whose answer is the next step's.
        case goesOn([UInt8])
        /// The client is this principal, for so many seconds; nil: without end. The token, if there is one, proves the proxy
        /// to it.
        case proved(String, token: [UInt8]?, lifetime: Int?)
    }

    public typealias Outcome = FairWork<ObjectIdentifier, Result<Step, LoginError>>.Outcome

    private let context: AcceptingContext

    private static let threads = 2
    /// Threads of their own: a client's tokens delay nothing but other tokens.
    private static let steps = FairWork<ObjectIdentifier, Result<Step, LoginError>>(
        on: BlockingPool(threads: threads), threads: threads, waiting: 256)

    init(_ context: AcceptingContext) { self.context = context }

    /// Looks at a client's token, off the loop. To be called on the client's.
    public func step(_ token: [UInt8], for client: WaitingClient) async -> Outcome {
        await Self.steps.run(ObjectIdentifier(self), for: client) { [context = self.context] in
            do throws(GSSAPIError) {
                switch try context.step(token) {
                case .continue(let answer): return .success(.goesOn(answer))
                case .established(let principal, let token, let lifetime):
                    return .success(.proved(principal, token: token, lifetime: lifetime))
                }
            } catch { return .failure(LoginError(error)) }
        }
    }
}

extension LoginError {
    init(_ error: GSSAPIError) {
        let fault: Fault =
            switch error.fault {
            case .refused: .refused
            case .clockSkew: .clockSkew
            case .unavailable: .unavailable
            case .defectiveToken: .notKerberos
            }
        self.init(fault, error.description)
    }
}

/// Why a client's login by Kerberos came to nothing, and whose fault that is.
public struct LoginError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Fault: Sendable, Equatable {
        /// The ticket was looked at, and is no good.
        case refused
        /// Nothing can be said of the ticket: the client's clock and the one here differ by more than Kerberos puts up with.
        case clockSkew
        /// The bytes are no token, or one of another mechanism.
        case notKerberos
        /// Nothing can be said: the keys cannot be read, or the library is not installed.
        case unavailable
    }

    public let fault: Fault
    /// One sentence, without anything secret.
    public let description: String

    public init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}
