import Authentication
import Credentials
import Model

extension SharedState {
    /// Follows the changes of stored credentials as long as the process lives.
    public func followStorage() async {
        var count = 0
        for await change in storage.changes() {
            count += 1
            // A whole store may be replaced at once, and the loop has requests to serve meanwhile.
            if count % 64 == 0 { await Task.yield() }
            if [.certificate, .trust].contains(change.space.authenticationMethod.storedKind) { retireTLSAnswers() }
            if let version = storage.version(of: change.user, for: change.space) {
                spaces.accounts.replace(with: version)
                retire(.logins(version.name, but: version))
            } else if change.kind == .removed {
                retire(.logins(change.space.credentialName(of: change.user), but: nil))
            }
        }
    }
}
