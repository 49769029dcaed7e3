import Credentials
import Crypto
import Forwarding
import Rules
import Telemetry
import Upstream

/// The passwords of SOCKS clients (RFC 1929), against the users file.
extension ClientAuthentication {
    /// Whether a client can log in by a password that it sends.
    var takesPasswords: Bool { methods.contains(.basic) }

    /// Checks the password.
    /// - Returns: the reason why it is not accepted; nil if it is right.
    func check(
        _ password: Secret, of user: String, on exchange: Exchange, from downstream: Downstream
    ) async throws(ExchangeFailure) -> String? {
        guard let users = accounts.users else { return SOCKSRefusal.unsupportedLogin.sentence }
        switch await users.authenticate(user: user, password: password, for: downstream.waiting(on: exchange)) {
        case .right:
            downstream.metrics.add(.accepted, by: .basic)
            return nil
        case .wrong: return refuse(wrong, of: user, by: .basic, downstream).sentence
        case .busy: return "this proxy has too many passwords to check"
        case .abandoned: throw .clientLost
        }
    }
}
