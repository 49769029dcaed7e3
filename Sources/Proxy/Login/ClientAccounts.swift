import Authentication
import Credentials
import Crypto
import Model
import Rules
import Synchronization
import Upstream

/// The lists of the proxy's own clients. They survive a reload that does not change them, so that no client must log in
/// again.
public final class ClientAccounts: Sendable {
    let users: UsersFile?
    let tokens: TokensFile?
    /// The nonces; nil if Digest is not offered.
    let nonces: DigestNonces?
    /// The keys for tickets; nil if Negotiate is not offered.
    let keytab: ServiceKeytab?
    private let clients: Configuration.Clients
    private let nonceKey: NonceKey?
    private let secret: Mutex<Secret?>

    /// Reads the key of nonces, nothing else; call `refresh` before the first client connects. Blocks.
    /// - Parameter nonceKey: the key that `nonce-key` names; nil if nonces are valid in this process only.
    /// - Throws: the reason why nonces cannot be shared, or what is not installed here.
    public init(_ clients: Configuration.Clients, nonceKey: NonceKey?) throws(StartError) {
        self.clients = clients
        self.nonceKey = nonceKey
        let methods = clients.methods
        let offersDigest = methods.contains(.digest)
        do throws(NonceKey.Failure) {
            secret = Mutex(offersDigest ? try nonceKey?.read() : nil)
        } catch { throw StartError("\(error)") }
        if methods.contains(.negotiate), let path = clients.keytab {
            do throws(ServiceKeytab.LoginFailure) { keytab = try ServiceKeytab(path: path) } catch {
                throw StartError("'authenticate negotiate' is not possible: \(error)")
            }
        } else {
            keytab = nil
        }
        do throws(CryptoError) {
            if methods.contains(.basic) || offersDigest, case .file(let path) = clients.users {
                users = try UsersFile(path: path, realm: clients.realm, offersDigest: offersDigest)
            } else {
                users = nil
            }
            if methods.contains(.bearer), case .file(let path) = clients.tokens {
                tokens = try TokensFile(path: path)
            } else {
                tokens = nil
            }
            nonces = offersDigest ? try DigestNonces(key: secret.withLock { $0 }) : nil
        } catch { throw StartError("\(error)") }
    }

    /// Whether these accounts also fit the changed settings `clients`.
    public func serves(_ clients: Configuration.Clients) -> Bool {
        var (mine, theirs) = (self.clients, clients)
        // Which addresses may connect, and whose tickets are accepted, is checked elsewhere.
        (mine.allow, theirs.allow) = ([], [])
        (mine.principals, theirs.principals) = ([], [])
        return mine == theirs
    }

    /// Reads changed files again. Blocks: never call it on a loop.
    /// - Returns: sentences about unusable entries, repeated until they are fixed.
    public func refresh() -> [String] {
        var sentences = ((users?.refresh() ?? []) + (tokens?.refresh() ?? [])).map { "\($0)" }
        if let problem = keytab?.refresh() { sentences.append("\(problem)") }
        guard let nonces, let nonceKey else { return sentences }
        do throws(NonceKey.Failure) {
            let fresh = try nonceKey.read()
            let isNew = secret.withLock { secret in
                defer { secret = fresh }
                return secret != fresh
            }
            if isNew { nonces.replaceKey(with: fresh) }
        } catch { sentences.append("\(error)") }
        return sentences
    }

    /// A number that changes when users may have been added, changed or removed.
    var version: Int { (users?.version ?? 0) &+ (tokens?.version ?? 0) }

    /// A fingerprint of a user's entries in the users and tokens files.
    struct Mark: Equatable {
        fileprivate let line: UInt128?
        fileprivate let hasToken: Bool
    }

    func mark(of user: String) -> Mark {
        Mark(line: users?.mark(of: user), hasToken: tokens?.contains(user) ?? false)
    }
}
