import Bytes
import Crypto

/// The accounts of a users file, found by a name's bytes. Strings with different bytes can be equal, and rules compare
/// bytes.
struct UserAccounts: Sendable {
    struct Account: Sendable {
        let name: String
        /// The password hash.
        var hash: String?
        /// The keys for Digest in the realm of this proxy.
        var md5: MessageDigest.Value?
        var sha256: MessageDigest.Value?

        subscript(algorithm: DigestAlgorithm) -> MessageDigest.Value? {
            get {
                switch algorithm {
                case .md5: md5
                case .sha256: sha256
                case .sha1, .sha512t256: nil
                }
            }
            set {
                switch algorithm {
                case .md5: md5 = newValue
                case .sha256: sha256 = newValue
                case .sha1, .sha512t256: break
                }
            }
        }
    }

    private(set) var accounts: [Account] = []
    /// The algorithms that occur in lines, the strongest first.
    private(set) var digestAlgorithms: [DigestAlgorithm] = []
    /// The indices by a keyed code of the name, so that a search needs no array of the name's bytes.
    private var numbers: [UInt128: Int] = [:]

    init() {}

    /// - Parameters:
    ///   - realm: the proxy's realm; lines for others are ignored.
    ///   - code: makes the keyed codes of names.
    init(_ lines: inout ListLines, realm: String, code: MessageAuthenticationCode) {
        lines.scan { line in
            switch UserAccounts.Line(line) {
            case .refused(let reason): return reason
            case .user(let name, let hash):
                let number = number(of: name, code)
                if accounts[number].hash != nil { return .duplicate }
                accounts[number].hash = hash
            case .digest(let name, let lineRealm, let algorithm, let key):
                guard lineRealm.utf8Span.span.equals(realm.utf8Span.span) else { return .otherRealm(realm) }
                let number = number(of: name, code)
                if accounts[number][algorithm] != nil { return .duplicate }
                accounts[number][algorithm] = key
            }
            return nil
        }
        digestAlgorithms = [.sha256, .md5].filter { algorithm in accounts.contains { $0[algorithm] != nil } }
    }

    func account(_ code: UInt128) -> Account? { numbers[code].map { accounts[$0] } }

    /// An account to use in place of an unknown user; always the same one for the same code.
    func stranger(_ code: UInt128) -> Account? {
        accounts.isEmpty ? nil : accounts[Int(code % UInt128(accounts.count))]
    }

    private mutating func number(of name: String, _ code: MessageAuthenticationCode) -> Int {
        let code = code.code(of: name.utf8Span.span).prefix128
        if let number = numbers[code] { return number }
        accounts.append(Account(name: name))
        numbers[code] = accounts.count - 1
        return accounts.count - 1
    }

    /// One line of a users file.
    fileprivate enum Line {
        /// A line of htpasswd or `attache password`; nginx and trac have more columns after the hash.
        case user(String, hash: String)
        /// A line of htdigest or `attache password --digest`: the digest over user, realm and password (RFC 7616 section
        /// 3.4.2), which is all that Digest needs.
        case digest(String, realm: String, DigestAlgorithm, key: MessageDigest.Value)
        case refused(UsersFile.Problem.Reason)

        init(_ line: Substring) {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                self = .refused(.noUser)
                return
            }
            let user = String(line[..<colon])
            let rest = line[line.index(after: colon)...]
            if user.first?.isListBlank == true || user.last?.isListBlank == true || rest.first?.isListBlank == true {
                self = .refused(.blank)
            } else if let last = rest.lastIndex(of: ":") {
                let digest = Self.digest(user, realm: String(rest[..<last]), digits: rest[rest.index(after: last)...])
                self = Self.firstHash(in: rest, unless: digest).map { Self.hash(user, $0) } ?? digest
            } else {
                self = Self.hash(user, String(rest))
            }
        }

        /// The hash of a line with more columns, such as a name and a mail address; nil for an htdigest line. A realm
        /// may begin like a hash.
        private static func firstHash(in columns: Substring, unless digest: UserAccounts.Line) -> String? {
            guard columns.hasPrefix("$") || columns.hasPrefix("{") else { return nil }
            let hash = String(columns.prefix { $0 != ":" })
            if case .digest = digest, !PasswordHash.isSupported(hash) { return nil }
            return hash
        }

        private static func hash(_ user: String, _ hash: String) -> UserAccounts.Line {
            reason(against: hash).map { .refused($0) } ?? .user(user, hash: hash)
        }

        private static func digest(_ user: String, realm: String, digits: Substring) -> UserAccounts.Line {
            guard let bytes = Hex.decode(digits), let key = MessageDigest.Value(bytes) else {
                return .refused(.noDigest)
            }
            switch bytes.count {
            case DigestAlgorithm.md5.length: return .digest(user, realm: realm, .md5, key: key)
            case DigestAlgorithm.sha256.length: return .digest(user, realm: realm, .sha256, key: key)
            default: return .refused(.noDigest)
            }
        }

        private static func reason(against hash: String) -> UsersFile.Problem.Reason? {
            if hash.hasPrefix("$1$") { return .weak("MD5") }
            if hash.hasPrefix("{SHA}") { return .weak("unsalted SHA-1") }
            if PasswordHash.isSupported(hash) { return PasswordHash.isAffordable(hash) ? nil : .costly }
            return hash.hasPrefix("$") ? .unknownMethod : .weak("plain text or DES")
        }
    }
}
