import Authentication
import Credentials
import Proxy
import Rules

/// The credential store of a running proxy.
struct RunningStore {
    let store: CredentialStore
    let follower: StoreFollower

    /// Opens the store, if the rule file names one, if its rules keep something, or if somebody has put a credential into
    /// the usual one. Else none is opened or made: a proxy without a directory of its own runs as well. To be called
    /// before any credential is read. Blocks.
    static func open(for configuration: Configuration) throws(StartError) -> RunningStore? {
        let isNeeded = configuration.store != nil || configuration.keepsCredentials
        guard let place = CredentialStorePlace(configuration) else {
            if isNeeded { throw StartError(StatePath.unknown(for: "credentials")) }
            return nil
        }
        guard isNeeded || !place.isMissing else { return nil }
        let store: CredentialStore
        do throws(CredentialStoreError) {
            store = try place.open(
                environment: Environment.all, fingerprintKey: CredentialFingerprint.use, report: { Console.report($0) })
        } catch { throw StartError("\(error)") }
        let follower = StoreFollower(store) { Console.report($0) }
        guard follower.start() else { throw StartError("the system gives no thread for the credential store") }
        return RunningStore(store: store, follower: follower)
    }
}
