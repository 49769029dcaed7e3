import GSSAPI
import IO

/// A client's login with the keys of a keytab. Its steps come one after the other. Only so many wait, in turns of the
/// clients' addresses, and the step of a client that leaves is given up.
public final class ServiceLogin: Sendable {
    /// What one step came to.
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
    /// Threads of their own: whoever brings tokens keeps nothing waiting but other tokens.
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
