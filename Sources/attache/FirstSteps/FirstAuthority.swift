import Credentials
import IO
import Rules
import TLS

/// The CA that a proxy signs with by the rules that `attache init` has written.
enum FirstAuthority {
    /// Makes the CA if it is missing, and a new one if it may not issue for the hosts of the rules.
    /// - Returns: a sentence about it.
    static func line(_ configuration: Configuration) throws(CommandError) -> String {
        guard let store = CAStore(configuration) else {
            throw .configuration(StatePath.unknown(for: "the CA"))
        }
        let now = SystemClock.wallTime
        do throws(AuthorityProblem) {
            try store.open(host: Environment.hostName, at: now)
            var addition = ""
            switch store.refresh(at: now) {
            case nil: break
            case .otherNames:
                try store.renew(host: Environment.hostName, at: now)
                addition = "; it is new, for all hosts of the rules: tools must trust it again, by the command below"
            case let problem?: Console.error("\(problem)")
            }
            let certificate = try store.certificate(host: Environment.hostName, at: now)
            return "the CA: \(store.place.certificate), SHA-256 \(certificate.fingerprint)\(addition)"
        } catch { throw .failed("\(error)") }
    }
}
