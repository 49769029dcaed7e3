import Credentials

/// That somebody could use the proxy when it was asked last, for a session that is not asked with each request.
struct ClientAdmission {
    private let user: String
    private var version: Int
    private let mark: ClientAccounts.Mark

    init(_ user: String, by accounts: ClientAccounts) {
        self.user = user
        version = accounts.version
        mark = accounts.mark(of: user)
    }

    /// Whether it holds: nothing was changed about the user since.
    mutating func holds(by accounts: ClientAccounts) -> Bool {
        let current = accounts.version
        if current == version { return true }
        guard accounts.mark(of: user) == mark else { return false }
        version = current
        return true
    }
}

extension ClientAccounts {
    /// What the lists say of somebody.
    struct Mark: Equatable {
        fileprivate let line: UInt128?
        fileprivate let hasToken: Bool
    }

    func mark(of user: String) -> Mark {
        Mark(line: users?.mark(of: user), hasToken: tokens?.contains(user) ?? false)
    }
}
