import Authentication
import Bytes
import GSSAPI
import IO
import Synchronization

/// The keys of this proxy as a Kerberos service, for all principals in the keytab. The file is read again when it
/// changes. If it cannot be used, the former keys stay.
public final class ServiceKeytab: Sendable {
    public let path: String
    private let state = Mutex(State())

    private struct State {
        var credential: AcceptingContext.Credential?
        /// The state of the file that was read last, usable or not.
        var stamp: SmallFile.Stamp?
        /// The reason why that file could not be used.
        var problem: LoginFailure?
    }

    /// Creates the keytab without reading it: call `refresh` first.
    /// - Throws: if Kerberos is not installed here.
    public init(path: String) throws(LoginFailure) {
        self.path = path
        guard GSSAPILibrary.isInstalled else {
            throw LoginFailure(.unavailable, "MIT Kerberos is not installed here (Debian's libgssapi-krb5-2)")
        }
    }

    /// Reads the file if it has changed. Blocks: do not call it on a loop.
    /// - Returns: why it cannot be used, every time until it can.
    public func refresh() -> LoginFailure? {
        let stamp = SmallFile.Stamp(path: path)
        let known = state.withLock { $0.stamp == stamp && stamp != nil ? $0 : nil }
        if let known { return known.problem }
        do throws(GSSAPIError) {
            let credential = try AcceptingContext.Credential(keytab: path)
            state.withLock { $0 = State(credential: credential, stamp: stamp) }
            return nil
        } catch {
            let problem = LoginFailure(error)
            state.withLock { ($0.stamp, $0.problem) = (stamp, problem) }
            return problem
        }
    }

    /// Creates the login of a client.
    /// - Parameter channel: the TLS connection of the login; nil: it comes without TLS.
    public func login(over channel: ChannelBinding?) throws(LoginFailure) -> Login {
        let (credential, problem) = state.withLock { ($0.credential, $0.problem) }
        guard let credential else { throw problem ?? LoginFailure(.unavailable, "the keytab \(path) was not read yet") }
        do throws(GSSAPIError) {
            return Login(try AcceptingContext(credential, channel: channel?.applicationData))
        } catch {
            throw LoginFailure(error)
        }
    }

    /// A client's login with the keys of a keytab. Its steps follow each other. The number of waiting steps is limited,
    /// and the clients' addresses take turns. The step of a client that leaves is dropped.
    public final class Login: Sendable {
        /// The result of one step.
        public enum Step: Sendable {
            /// The token is for the client. Pass the client's answer to the next step.
            case goesOn([UInt8])
            /// The client is this principal, for this time; nil: without limit. The token, if there is one,
            /// authenticates the proxy to the client.
            case proved(String, token: [UInt8]?, lifetime: Milliseconds?)
        }

        public typealias Outcome = FairScheduler<ObjectIdentifier, Result<Step, LoginFailure>>.Outcome

        private let context: AcceptingContext

        private static let threads = 2
        /// Separate threads: a client's tokens delay only other tokens.
        private static let steps = FairScheduler<ObjectIdentifier, Result<Step, LoginFailure>>(
            on: BlockingPool(threads: threads), threads: threads, waiting: 256)

        init(_ context: AcceptingContext) { self.context = context }

        /// Processes a client's token outside the loop. Call it on the client's loop.
        public func step(_ token: [UInt8], for client: WaitingClient) async -> Outcome {
            await Self.steps.run(ObjectIdentifier(self), for: client) { [context = self.context] in
                do throws(GSSAPIError) {
                    switch try context.step(token) {
                    case .continue(let answer): return .success(.goesOn(answer))
                    case .established(let principal, let token, let lifetime):
                        return .success(.proved(principal, token: token, lifetime: lifetime))
                    }
                } catch { return .failure(LoginFailure(error)) }
            }
        }
    }

    /// The reason why a client's login by Kerberos failed, and whose fault that is.
    public struct LoginFailure: Error, Sendable, Equatable, CustomStringConvertible {
        public enum Fault: Sendable, Equatable {
            /// The ticket was checked and is invalid.
            case refused
            /// The ticket could not be judged: the clocks of the client and of this machine differ by more than
            /// Kerberos allows.
            case clockSkew
            /// The bytes are not a token, or one of another mechanism.
            case notKerberos
            /// The ticket could not be judged: the keys cannot be read, or the library is not installed.
            case unavailable
        }

        public let fault: Fault
        /// One sentence, without secrets.
        public let description: String

        public init(_ fault: Fault, _ description: String) {
            self.fault = fault
            self.description = description
        }

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
}
