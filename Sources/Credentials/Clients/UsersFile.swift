import Authentication
import Crypto
import IO

/// The proxy's own users: `user:hash` lines of htpasswd and `attache password`, and `user:realm:digest` lines of
/// htdigest. Names and passwords are bytes, which are not normalised: `é` typed in two ways is two passwords.
///
/// A password is hashed once, and once more whenever the file has changed. After that its keyed code is remembered,
/// never the password.
public final class UsersFile: Sendable {
    public let realm: String
    private let offersDigest: Bool
    private let file: ListFile<UserAccounts>
    private let checks = PasswordChecks()

    /// Creates the object without reading the file: call `refresh` first.
    /// - Parameters:
    ///   - realm: the proxy's realm; htdigest lines of others are ignored.
    ///   - offersDigest: whether to report users who cannot use Digest.
    public init(path: String, realm: String, offersDigest: Bool = false) throws(CryptoError) {
        self.realm = realm
        self.offersDigest = offersDigest
        file = try ListFile(path: path, UserAccounts())
    }

    /// Reads the file and applies the changes. An invalid line is a problem of that line only. If the file cannot be
    /// read, the former content stays valid. Blocks: do not call it on a loop.
    public func refresh() -> [Problem] {
        file.refresh { lines in
            let accounts = UserAccounts(&lines, realm: realm, code: file.code)
            if offersDigest { noteUnusable(accounts.accounts, in: &lines) }
            return accounts
        } adopt: {
            checks.forget()
        }
    }

    /// A number that changes whenever the file has changed.
    public var version: Int { file.version }

    public var userCount: Int { file.withContent { $0.accounts.count } }

    // MARK: - Passwords

    /// Whether this password was found to be the user's, or not, since the file last changed; nil when it was not
    /// looked at: ask `authenticate`. Neither blocks nor allocates.
    public func outcome(user: Span<UInt8>, password: Span<UInt8>) -> Bool? {
        checks.outcome(of: code(user: user, password: password))
    }

    /// Whether the user has this password. A hash is computed on a separate thread, also for an unknown user, and once
    /// for simultaneous equal requests. Call it on the client's loop.
    public func authenticate(user: String, password: Secret, for client: WaitingClient) async -> PasswordVerdict {
        let name = file.code.code(of: user.utf8Span.span).prefix128
        return await checks.check(code(user: user, password: password), of: name, for: client) {
            self.matches(user, password)
        }
    }

    /// Checks the password on the calling thread: do not call it on a loop.
    public func verify(user: String, password: Secret) -> Bool {
        checks.check(code(user: user, password: password)) { matches(user, password) }
    }

    /// The key of a user for Digest; nil without such a line.
    public func digestKey(of user: Span<UInt8>, _ algorithm: DigestAlgorithm) -> (
        name: String, key: MessageDigest.Value
    )? {
        let code = file.code.code(of: user).prefix128
        return file.withContent { accounts in
            guard let account = accounts.account(code), let key = account[algorithm] else { return nil }
            return (account.name, key)
        }
    }

    /// The algorithms that occur in lines, the strongest first; all algorithms if no line has one.
    public var digestAlgorithms: [DigestAlgorithm] {
        let present = file.withContent { $0.digestAlgorithms }
        return present.isEmpty ? [.sha256, .md5] : present
    }

    /// A fingerprint of the user's entry in the file; nil if there is no entry.
    public func mark(of user: String) -> UInt128? {
        let name = file.code.code(of: user.utf8Span.span).prefix128
        guard let account = file.withContent({ $0.account(name) }) else { return nil }
        var message = file.code.begin()
        message.update(utf8: account.hash ?? "")
        for key in [account.md5, account.sha256] {
            message.update(":")
            if let key { message.update(key) }
        }
        return file.code.code(of: message).prefix128
    }

    private func matches(_ user: String, _ password: Secret) -> Bool {
        let code = file.code.code(of: user.utf8Span.span).prefix128
        let (known, stranger) = file.withContent { ($0.account(code), $0.stranger(code)) }
        // The time of an unknown user's check must not reveal which users exist.
        guard let account = known ?? stranger else { return false }
        return matches(account, password) && known != nil
    }

    private func matches(_ account: UserAccounts.Account, _ password: Secret) -> Bool {
        if let hash = account.hash { return PasswordHash.verify(password, against: hash) }
        for algorithm in [DigestAlgorithm.sha256, .md5] {
            guard let key = account[algorithm] else { continue }
            let made = DigestKey.make(
                algorithm, user: account.name, realm: realm.utf8Span.span, password: password)
            return key.withHexadecimal { key in made.withHexadecimal { ConstantTime.equal(key, $0) } }
        }
        return false
    }

    private func code(user: String, password: Secret) -> UInt128 {
        password.withBytes { code(user: user.utf8Span.span, password: $0) }
    }

    private func code(user: Span<UInt8>, password: Span<UInt8>) -> UInt128 {
        var message = file.code.begin()
        message.update(user)
        message.update("\0")
        message.update(password)
        return file.code.code(of: message).prefix128
    }

    /// Records the users that Digest leaves out.
    private func noteUnusable(_ accounts: [UserAccounts.Account], in lines: inout ListLines) {
        let without = accounts.filter { $0.md5 == nil && $0.sha256 == nil }.map(\.name)
        let offersSHA256 = accounts.contains { $0.sha256 != nil }
        let weaker = offersSHA256 ? accounts.filter { $0.md5 != nil && $0.sha256 == nil }.map(\.name) : []
        if !without.isEmpty { lines.note(.withoutDigest(without, realm: realm)) }
        if !weaker.isEmpty { lines.note(.withoutSHA256(weaker, realm: realm)) }
    }

    /// A problem of a users or tokens file, or of one of its lines. It contains no hash.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        enum Reason: Sendable, Hashable {
            case unreadable(FileError)
            case notText
            case noUser
            case blank
            case duplicate
            case noDigest
            case otherRealm(String)
            case unknownMethod
            case weak(String)
            case costly
            case noToken
            case duplicateToken
            /// These users cannot use Digest.
            case withoutDigest([String], realm: String)
            /// These users cannot use Digest with a client that takes the first offered algorithm.
            case withoutSHA256([String], realm: String)
        }

        public let path: String
        /// The line number, from 1; nil for a problem of the file.
        public let line: Int?
        let reason: Reason

        public var description: String {
            "\(path)\(line.map { ":\($0)" } ?? ""): \(text)"
        }

        private var text: String {
            switch reason {
            case .unreadable(.system(let errno)): "cannot read the file: \(IOError.sentence(for: errno))"
            case .unreadable(.tooLarge): "the file is too large"
            case .notText: "the line is not UTF-8 text"
            case .noUser: "expected a user name, a colon and a password hash"
            case .blank: "there is a blank before or after the user's name, or before the hash: remove it"
            case .duplicate: "duplicate user; the earlier line is used"
            case .noDigest: "expected a user name, a realm and 32 or 64 hexadecimal digits, with colons between them"
            case .otherRealm(let realm): "the line is for another realm than \"\(realm)\", and is ignored"
            case .unknownMethod: "unknown kind of password hash"
            case .weak(let method):
                "\(method) is too weak a password hash: make a line with `attache password` or `htpasswd -B`"
            case .costly:
                "the password hash takes too long to check: at most 1,000,000 rounds of SHA-crypt, a cost of 14 of bcrypt, and "
                    + "128 MiB of yescrypt or scrypt"
            case .noToken: "expected a user name, a colon and the token's SHA-256 as 64 hexadecimal digits"
            case .duplicateToken: "duplicate token; the earlier line is used"
            case .withoutDigest(let users, let realm):
                "these users can log in by Basic only, because they have no Digest line for the realm \"\(realm)\": \(Self.list(users)); "
                    + "`attache password --digest` makes one"
            case .withoutSHA256(let users, let realm):
                "with an MD5 line for the realm \"\(realm)\" and none of SHA-256, clients that take the first offer "
                    + "cannot log in: \(Self.list(users)); `attache password --digest` makes both"
            }
        }

        private static let listed = 5

        private static func list(_ users: [String]) -> String {
            let rest = users.count - listed
            return users.prefix(listed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        }
    }
}
