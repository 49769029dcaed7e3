import Credentials

/// That somebody could use the proxy when it was asked last, for a session that is not asked with each request.
struct ClientAdmission {
    private let user: String
    /// Whether the user came with a ticket.
    private let isPrincipal: Bool
    private var authentication: ClientAuthentication
    private var version: Int
    private let mark: ClientAccounts.Mark

    init(_ user: String, isPrincipal: Bool, by authentication: ClientAuthentication) {
        self.user = user
        self.isPrincipal = isPrincipal
        self.authentication = authentication
        version = authentication.accounts.version
        mark = authentication.accounts.mark(of: user)
    }

    /// Whether it holds: nothing was changed about the user since, neither in a list nor in the rules.
    mutating func holds(by authentication: ClientAuthentication) -> Bool {
        if authentication !== self.authentication {
            if isPrincipal, !authentication.admits(principal: user) { return false }
            self.authentication = authentication
        }
        let accounts = authentication.accounts
        let current = accounts.version
        if current == version { return true }
        guard accounts.mark(of: user) == mark else { return false }
        version = current
        return true
    }
}

extension ClientAccounts {
    /// The lists' word on somebody.
    struct Mark: Equatable {
        fileprivate let line: UInt128?
        fileprivate let hasToken: Bool
    }

    func mark(of user: String) -> Mark {
        Mark(line: users?.mark(of: user), hasToken: tokens?.contains(user) ?? false)
    }
}
