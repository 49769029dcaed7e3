import Authentication
import Bytes
import Challenges
import Credentials
import Model
import Rules
import Synchronization
import Upstream

/// The credential store of a running proxy: none, until a rule file or a command creates one.
final class RunningStore: Sendable {
    private struct Opened {
        let place: CredentialStore.Place
        let store: CredentialStore
        let follower: CredentialStore.Follower
    }

    let memory = CredentialMemory(audit: AuditTrail(at: Environment.hostName))
    private let opened = Mutex<Opened?>(nil)

    var isOpen: Bool { opened.withLock { $0 != nil } }

    /// The reason why the last attempt to follow the store failed; nil if it succeeded.
    var problem: CredentialStore.Failure? { opened.withLock { $0?.follower.problem } }

    /// The time when all its changes were known; nil if there is no store.
    var lastFollowed: WallTime? { opened.withLock { $0?.follower.lastFollowed } }

    /// The place of the credentials; nil if there is no store.
    var place: CredentialStore.Place? { opened.withLock { $0?.place } }

    /// The stored credentials.
    ///
    /// - Parameter opens: whether certificates and tokens are decrypted, for their last day.
    func places(opens: Bool) -> [CredentialList.StoredPlace] {
        opened.withLock { $0?.store }?.places(opens: opens) ?? []
    }

    /// Opens the store if the rule file names one, if its rules store credentials, or if a command has created the
    /// usual one. Otherwise none is opened or created, so that a proxy without its own directory can run. An open store
    /// stays open. Credentials that were read before have different fingerprints from those read afterwards. Blocks.
    ///
    /// - Returns: the place that was opened just now; nil if none.
    func open(for configuration: Configuration) throws(StartError) -> CredentialStore.Place? {
        let isNeeded = configuration.store != nil || configuration.keepsCredentials
        let place = CredentialStore.Place(configuration)
        if let present = opened.withLock({ $0?.place }) {
            if present != place {
                Console.say("changes to 'store' take effect when you restart the proxy")
            }
            return nil
        }
        guard let place else {
            if isNeeded { throw StartError(StatePath.unknown(for: "credentials")) }
            return nil
        }
        guard isNeeded || !place.isMissing else { return nil }
        let store: CredentialStore
        do throws(CredentialStore.Failure) {
            store = try place.open(
                environment: Environment.all, memory: memory, fingerprintKey: CredentialVersion.Fingerprint.use,
                report: { Console.report($0) })
        } catch { throw StartError("\(error)") }
        let follower = CredentialStore.Follower(store) { Console.report($0) }
        guard follower.start() else { throw StartError("cannot start a thread for the credential store") }
        opened.withLock { $0 = Opened(place: place, store: store, follower: follower) }
        return place
    }
}

extension CredentialStore {
    /// The stored credentials.
    ///
    /// - Parameter opens: whether certificates and tokens are decrypted, for their last day. Passwords have no end and
    ///   are not decrypted.
    func places(opens: Bool) -> [CredentialList.StoredPlace] {
        storage.entries.map { entry in
            let mayEnd = entry.space.authenticationMethod.storedKind != .password
            let credential = opens && mayEnd ? storage.credential(of: entry.user, for: entry.space) : nil
            return CredentialList.StoredPlace(
                entry.user, for: entry.space, version: storage.version(of: entry.user, for: entry.space),
                isDefault: entry.isDefault, lastDay: credential?.lastDay)
        }
    }
}
