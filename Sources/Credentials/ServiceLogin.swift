import GSSAPI
import IO

/// A client's login with the keys of a keytab. Its steps come one after the other.
public final class ServiceLogin: Sendable {
    /// What one step came to.
    public enum Step: Sendable {
        /// The token goes to the client, whose answer is the next step's.
        case goesOn([UInt8])
        /// The client is this principal, for so many seconds; nil: without end. The token, if there is one, proves the proxy
        /// to it.
        case proved(String, token: [UInt8]?, lifetime: Int?)
    }

    private let context: AcceptingContext

    init(_ context: AcceptingContext) { self.context = context }

    /// Looks at a client's token, off the loop.
    public func step(_ token: [UInt8]) async throws(LoginError) -> Step {
        let context = context
        let result = await BlockingPool.shared.run { () -> Result<Step, LoginError> in
            do throws(GSSAPIError) {
                switch try context.step(token) {
                case .continue(let answer): return .success(.goesOn(answer))
                case .established(let principal, let token, let lifetime):
                    return .success(.proved(principal, token: token, lifetime: lifetime))
                }
            } catch { return .failure(LoginError(error)) }
        }
        return try result.get()
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
