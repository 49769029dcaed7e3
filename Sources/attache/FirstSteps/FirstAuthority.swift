import Credentials
import IO
import Rules
import TLS

/// The authority that a proxy by a first rule file signs with.
enum FirstAuthority {
    /// Makes it where there is none.
    /// - Returns: the words about it.
    static func line(_ configuration: Configuration) throws(CommandError) -> String {
        guard let store = AuthorityStore(configuration) else {
            throw .configuration(StatePath.unknown(for: "the authority"))
        }
        let now = SystemClock.epochMilliseconds / 1000
        do throws(AuthorityProblem) {
            let certificate = try store.certificate(host: Environment.hostName, at: now)
            try store.open(host: Environment.hostName, at: now)
            if let problem = store.refresh(at: now) { Console.error("\(problem)") }
            return "the authority: \(store.place.certificate), SHA-256 \(certificate.fingerprint)"
        } catch { throw .failed("\(error)") }
    }
}
