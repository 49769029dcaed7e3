import Crypto
import Synchronization

/// The tokens there are, by the grant they were given for: each is fetched by one request for all, renewed before it
/// ends, and never handed out after that. Every call is atomic; a caller that is told to fetch does so, and reports
/// with `land`.
public final class TokenStore: Sendable {
    /// The next step of a request that needs a token.
    public enum Supply: Sendable {
        /// Go ahead with it; fetch the next one meanwhile if so told.
        case token(Credential, fetches: Bool)
        /// Wait, then ask again; fetch first if so told.
        case wait(Waiter, fetches: Bool)
        /// There is none, and it is too early, or no use, to ask again.
        case none(TokenError)
    }

    private struct Held {
        let credential: Credential
        let endsAt: Int
        let renewsAt: Int
    }

    private struct Entry {
        var held: Held?
        /// The waiters for the fetch under way; nil when none is.
        var waiters: [Waiter]?
        var failure: TokenError?
        /// Not to be asked before.
        var pausedUntil = Int.min
        /// When a token was last fetched because a server refused the one before.
        var replacedAt = Int.min
    }

    private let entries = Mutex<[CredentialVersion: Entry]>([:])
    private let journal: (any TokenJournal)?

    /// Milliseconds between tries that failed; between tokens that servers refuse.
    private static let pause = 5_000
    private static let replacementPause = 30_000
    /// The life of a token without a time.
    private static let usualLifetime = 3_600_000
    private static let capacity = 1024

    /// - Parameter journal: told of every token that is fetched here.
    public init(journal: (any TokenJournal)? = nil) { self.journal = journal }

    /// Takes over a token that another process fetched, if it lasts longer than what is there.
    public func adopt(_ fetched: FetchedToken) {
        entries.withLock { entries in
            if entries.count >= Self.capacity { return }
            var entry = entries[fetched.grant] ?? Entry()
            guard entry.held.map({ $0.endsAt < fetched.endsAt }) ?? true else { return }
            entry.held = Held(
                credential: Credential(name: fetched.grant.name, token: fetched.token), endsAt: fetched.endsAt,
                renewsAt: fetched.renewsAt)
            entry.failure = nil
            entry.pausedUntil = .min
            entries[fetched.grant] = entry
        }
    }

    /// - Parameters:
    ///   - refused: a token that a server just refused: another is wanted.
    ///   - now: milliseconds since 1970.
    public func supply(for grant: CredentialVersion, besides refused: CredentialVersion?, at now: Int) -> Supply {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries = entries.filter { $0.value.waiters != nil } }
            // Taken out, so that no waiter costs a copy of those before it.
            var entry = entries.removeValue(forKey: grant) ?? Entry()
            defer { entries[grant] = entry }
            if let held = entry.held, now < held.endsAt {
                let isRefused = held.credential.version == refused
                if !isRefused || now < entry.replacedAt &+ Self.replacementPause {
                    let fetches = now >= held.renewsAt && entry.waiters == nil && now >= entry.pausedUntil
                    if fetches { entry.waiters = [] }
                    return .token(held.credential, fetches: fetches)
                }
                entry.held = nil
                entry.replacedAt = now
            }
            if entry.waiters == nil, now < entry.pausedUntil, let failure = entry.failure { return .none(failure) }
            let waiter = Waiter()
            let fetches = entry.waiters == nil
            entry.waiters = entry.waiters ?? []
            entry.waiters?.appendForgetting(waiter)
            return .wait(waiter, fetches: fetches)
        }
    }

    /// The token that can be used right now without any ado. Allocates nothing.
    public func current(for grant: CredentialVersion, at now: Int) -> Credential? {
        entries.withLock { entries in
            guard let held = entries[grant]?.held, now < held.renewsAt else { return nil }
            return held.credential
        }
    }

    /// Takes the result of a fetch. Those who wait ask again.
    /// - Returns: the new token.
    @discardableResult
    public func land(
        _ result: Result<TokenResponse, TokenError>, for grant: CredentialVersion, at now: Int
    ) -> Credential? {
        let (waiters, held) = entries.withLock { entries -> ([Waiter], Held?) in
            var entry = entries[grant] ?? Entry()
            defer { entries[grant] = entry }
            let waiters = entry.waiters ?? []
            entry.waiters = nil
            switch result {
            case .success(let response):
                let lifetime = response.lifetime ?? Self.usualLifetime
                let credential = Credential(name: grant.name, token: response.token)
                let held = Held(
                    credential: credential, endsAt: now + lifetime - min(5_000, lifetime / 10),
                    renewsAt: now + max(lifetime / 2, lifetime - 60_000 - lifetime / 10))
                entry.held = held
                entry.failure = nil
                entry.pausedUntil = .min
                return (waiters, held)
            case .failure(let error):
                entry.failure = error
                entry.pausedUntil = error.isPassing ? now + Self.pause : .max
                return (waiters, nil)
            }
        }
        for waiter in waiters { _ = waiter.resolve(.settled(held == nil ? .unanswered : .accepted)) }
        if let held, let token = held.credential.token {
            journal?.fetched(
                FetchedToken(grant: grant, token: token, endsAt: held.endsAt, renewsAt: held.renewsAt))
        }
        return held?.credential
    }
}

/// A token that was given for a grant.
public struct FetchedToken: Sendable {
    /// The grant it was given for.
    public let grant: CredentialVersion
    public let token: Secret
    /// When it is not to be used any more, in milliseconds since 1970.
    public let endsAt: Int
    /// When it is time for the next, likewise.
    public let renewsAt: Int

    public init(grant: CredentialVersion, token: Secret, endsAt: Int, renewsAt: Int) {
        self.grant = grant
        self.token = token
        self.endsAt = endsAt
        self.renewsAt = renewsAt
    }
}

/// Keeps fetched tokens for other processes and for later ones. Its calls return at once; what they say may be written a
/// little later.
public protocol TokenJournal: Sendable {
    func fetched(_ token: FetchedToken)
}
