import Bytes
import Crypto

/// What the lines of a users file say, looked up by a name's bytes: strings that differ in their bytes can be equal,
/// and rules compare bytes.
struct UserAccounts: Sendable {
    struct Account: Sendable {
        let name: String
        /// A password hash.
        var hash: String?
        /// What Digest needs, for the realm of this proxy.
        var md5: DigestValue?
        var sha256: DigestValue?

        subscript(algorithm: DigestAlgorithm) -> DigestValue? {
            get {
                switch algorithm {
                case .md5: md5
                case .sha256: sha256
                case .sha512t256: nil
                }
            }
            set {
                switch algorithm {
                case .md5: md5 = newValue
                case .sha256: sha256 = newValue
                case .sha512t256: break
                }
            }
        }
    }

    private(set) var accounts: [Account] = []
    /// Those that there are lines of, the strongest first.
    private(set) var digestAlgorithms: [DigestAlgorithm] = []
    /// By a keyed code of the name, so that a name is looked up without an array of its bytes.
    private var places: [UInt128: Int] = [:]

    init() {}

    /// - Parameters:
    ///   - realm: lines for others are of no use.
    ///   - code: of names.
    init(
        _ text: [UInt8], path: String, realm: String, code: MessageAuthenticationCode,
        problems: inout [UsersFileProblem]
    ) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = text.starts(with: mark) ? text[mark.count...] : text[...]
        for (index, line) in text.split(separator: .lineFeed, omittingEmptySubsequences: false).enumerated() {
            let reason: UsersFileProblem.Reason?
            switch UsersFileLine(line) {
            case .empty: reason = nil
            case .refused(let why): reason = why
            case .user(let name, let hash):
                let place = place(of: name, code)
                reason = accounts[place].hash == nil ? nil : .duplicate
                if reason == nil { accounts[place].hash = hash }
            case .digest(let name, let lineRealm, let algorithm, let key):
                guard lineRealm.utf8Span.span.equals(realm.utf8Span.span) else {
                    reason = .otherRealm(realm)
                    break
                }
                let place = place(of: name, code)
                reason = accounts[place][algorithm] == nil ? nil : .duplicate
                if reason == nil { accounts[place][algorithm] = key }
            }
            if let reason { problems.append(UsersFileProblem(path: path, line: index + 1, reason: reason)) }
        }
        digestAlgorithms = [.sha256, .md5].filter { algorithm in accounts.contains { $0[algorithm] != nil } }
    }

    func account(_ code: UInt128) -> Account? { places[code].map { accounts[$0] } }

    /// One of the accounts, for a user that is none: the same for the same code.
    func stranger(_ code: UInt128) -> Account? {
        accounts.isEmpty ? nil : accounts[Int(code % UInt128(accounts.count))]
    }

    private mutating func place(of name: String, _ code: MessageAuthenticationCode) -> Int {
        let code = code.code(of: name.utf8Span.span).prefix128
        if let place = places[code] { return place }
        accounts.append(Account(name: name))
        places[code] = accounts.count - 1
        return accounts.count - 1
    }
}
