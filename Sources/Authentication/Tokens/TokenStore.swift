import Bytes
import Crypto
import Synchronization

/// The tokens by the grant that they were issued for, whose version covers endpoint, resource and scopes. One request
/// fetches a token for all. It is renewed before it expires, and never returned after that. Every call is atomic. A
/// caller that must fetch does so, and reports by `land`.
public final class TokenStore: Sendable {
    /// The next step of a request that needs a token.
    public enum Supply: Sendable {
        /// Use the token; fetch the next one meanwhile if `fetches` is true.
        case token(Credential, fetches: Bool)
        /// Wait, then ask again; fetch first if `fetches` is true.
        case wait(FlightWaiter, fetches: Bool)
        /// There is no token, and asking again is too early or useless.
        case none(TokenError)
    }

    private struct Held {
        let credential: Credential
        let endsAt: WallTime
        let renewsAt: WallTime
        let isBearer: Bool

        init(_ fetched: FetchedToken) {
            credential = Credential(name: fetched.grant.name, token: fetched.token, scopes: fetched.scopes)
            endsAt = fetched.endsAt
            renewsAt = fetched.renewsAt
            isBearer = fetched.isBearer
        }
    }

    private struct Entry {
        var held: Held?
        /// The generation of the last token.
        var generation = 0
        /// The waiters for the fetch in progress; nil if none is.
        var waiters: [FlightWaiter]?
        var failure: TokenError?
        /// The time before which the endpoint is not asked.
        var pausedUntil = WallTime.distantPast
        /// The time at which a token was last fetched because a server refused the former one.
        var replacedAt = WallTime.distantPast
        /// The time at which the token was last fetched or asked for. A token in use is asked for before it expires.
        var usedAt = WallTime.distantPast

        mutating func hold(_ fetched: FetchedToken) {
            held = Held(fetched)
            generation = max(generation, fetched.generation)
            failure = nil
            pausedUntil = .distantPast
        }
    }

    private let entries = Mutex<[CredentialVersion: Entry]>([:])
    private let changes = Atomic(0)
    private let rotations = RefreshTokenFamily.Rotations()
    private let journal: (any Journal)?

    /// The times between failed tries, if the grant's account allows them. `replacementPause` is for tokens that
    /// servers refuse.
    private static let pause: Milliseconds = .seconds(5)
    private static let replacementPause: Milliseconds = .seconds(30)
    /// The limit of entries, and of those of one credential: a server can announce a resource for each path. The one
    /// that was used least recently goes first. Registries, which have a token for each repository, share a limit.
    private static let (capacity, capacityOfOne, registryCapacity) = (1024, 128, 1024)

    /// - Parameter journal: gets every token that is fetched here.
    public init(journal: (any Journal)? = nil) { self.journal = journal }

    /// A number that changes whenever a grant gets a token or loses it. A token that expires does not change it.
    public var generation: Int { changes.load(ordering: .acquiring) }

    /// The tokens that are valid at that time: the name of each one's credential, and its expiry.
    public func ends(after now: WallTime) -> [(name: String, end: WallTime)] {
        entries.withLock { entries in
            entries.compactMap { grant, entry in
                entry.held.flatMap { now < $0.endsAt && $0.endsAt < .distantFuture ? (grant.name, $0.endsAt) : nil }
            }
        }
    }

    /// Adopts a token that another process fetched, if it is valid longer than the known one.
    public func adopt(_ fetched: FetchedToken) {
        entries.withLock { entries in
            if entries.count >= Self.capacity, entries[fetched.grant] == nil { return }
            var entry = entries[fetched.grant] ?? Entry()
            guard entry.held.map({ $0.endsAt < fetched.endsAt }) ?? true else { return }
            entry.hold(fetched)
            entries[fetched.grant] = entry
            changes.add(1, ordering: .releasing)
        }
    }

    /// - Parameters:
    ///   - refused: a token that a server just refused, so that another one is needed.
    ///   - isInput: whether the token is for another token request, where it need not be a bearer token.
    public func supply(
        for grant: CredentialVersion, besides refused: CredentialVersion?, asInput isInput: Bool = false,
        at now: WallTime
    ) -> Supply {
        entries.withLock { entries in
            if entries[grant] == nil { makeRoom(for: grant, in: &entries) }
            // Removed meanwhile, so that adding a waiter does not copy the list.
            var entry = entries.removeValue(forKey: grant) ?? Entry()
            entry.usedAt = now
            defer { entries[grant] = entry }
            if let held = entry.held, now < held.endsAt {
                if !held.isBearer, !isInput { return .none(.notBearer(endpoint: "its token endpoint")) }
                let isRefused = held.credential.version == refused
                if !isRefused || now < entry.replacedAt + Self.replacementPause {
                    let fetches = now >= held.renewsAt && entry.waiters == nil && now >= entry.pausedUntil
                    if fetches { entry.waiters = [] }
                    return .token(held.credential, fetches: fetches)
                }
                entry.held = nil
                entry.replacedAt = now
                changes.add(1, ordering: .releasing)
            }
            if entry.waiters == nil, now < entry.pausedUntil, let failure = entry.failure { return .none(failure) }
            let waiter = FlightWaiter()
            let fetches = entry.waiters == nil
            entry.waiters = entry.waiters ?? []
            entry.waiters?.appendForgetting(waiter)
            return .wait(waiter, fetches: fetches)
        }
    }

    private func makeRoom(for grant: CredentialVersion, in entries: inout [CredentialVersion: Entry]) {
        let ofOne = Self.capacityOfOne
        guard entries.count >= ofOne else { return }
        let kin = entries.filter { $0.key.isRegistry == grant.isRegistry }
        let own = grant.isRegistry ? [:] : kin.filter { $0.key.key == grant.key }
        guard own.count >= ofOne || kin.count >= (grant.isRegistry ? Self.registryCapacity : Self.capacity) else {
            return
        }
        let candidates = own.count >= ofOne ? own : kin
        let oldest = candidates.filter { $0.value.waiters == nil }.min { $0.value.usedAt < $1.value.usedAt }
        guard let oldest else { return }
        entries[oldest.key] = nil
        changes.add(1, ordering: .releasing)
    }

    /// Allows token endpoints that refused these grants to be asked again at once: a secret was set again, or a client
    /// unlocked.
    public func retry(where fits: (CredentialVersion) -> Bool) {
        entries.withLock { entries in
            for (grant, entry) in entries where entry.failure?.isRefusal == true && fits(grant) {
                entries[grant]?.failure = nil
                entries[grant]?.pausedUntil = .distantPast
            }
        }
    }

    /// The token that can be used now without a fetch or a wait. Allocates nothing.
    public func current(for grant: CredentialVersion, at now: WallTime) -> Credential? {
        entries.withLock { entries in
            guard let held = entries[grant]?.held, now < held.renewsAt, held.isBearer else { return nil }
            return held.credential
        }
    }

    /// The time until which `current` returns the grant's token, unless the generation changes; nil without a token.
    public func renewal(of grant: CredentialVersion) -> WallTime? {
        entries.withLock { $0[grant]?.held?.renewsAt }
    }

    /// Whether the token is the one that is held, and has not expired.
    public func holds(_ token: CredentialVersion, for grant: CredentialVersion, at now: WallTime) -> Bool {
        entries.withLock { entries in
            guard let held = entries[grant]?.held else { return false }
            return held.credential.version == token && now < held.endsAt
        }
    }

    /// The version of the token that is held, even if it has expired; nil if none is.
    public func version(for grant: CredentialVersion) -> CredentialVersion? {
        entries.withLock { $0[grant]?.held?.credential.version }
    }

    /// Claims the right to fetch with a refresh token: processes that share a store take turns.
    ///
    /// - Parameter end: the time from which another process may fetch although this one reported nothing.
    public func claim(
        _ family: RefreshTokenFamily, for grant: CredentialVersion, at now: WallTime, until end: WallTime
    ) async -> RenewalClaim.Outcome {
        let known = rotations.rotation(of: family)
        guard let journal else { return .granted(known) }
        let generation = entries.withLock { $0[grant]?.generation } ?? 0
        let outcome = await journal.claim(
            RenewalClaim(
                grant: grant, family: family, known: known, generation: generation, now: now, end: end))
        if case .unavailable = outcome, known.isConstant { return .granted(known) }
        return outcome
    }

    /// Stores the result of a fetch. Waiting requests ask again.
    /// - Returns: the new token.
    @discardableResult
    public func land(
        _ result: Result<TokenResponse, TokenError>, for grant: CredentialVersion, at now: WallTime
    ) -> Credential? {
        switch result {
        case .success(let response):
            let fetched = FetchedToken(response, for: grant, at: now)
            // A store does not keep the type of a token. A registry's token is valid for minutes.
            defer { if fetched.isBearer, fetched.scopes == nil { journal?.fetched(fetched) } }
            return land(fetched)
        case .failure(let error):
            fail(grant, error, at: now)
            return nil
        }
    }

    /// Stores the rotation after a granted fetch. Call it before the token is used: another process can fetch only with
    /// the refresh token that came with it.
    public func end(_ family: RefreshTokenFamily, at rotation: RefreshTokenFamily.Rotation, with token: FetchedToken?)
        async
    {
        rotations.advance(family, to: rotation)
        guard let journal else { return }
        await journal.ended(family, at: rotation, with: token)
    }

    /// Notes a fetch that failed.
    public func fail(_ grant: CredentialVersion, _ error: TokenError, at now: WallTime) {
        end(grant, .unanswered) { entry in
            entry.failure = error
            entry.pausedUntil = now + (error.pause ?? Self.pause)
        }
    }

    /// Stores a token from the journal. Waiting requests ask again.
    /// - Returns: the new token.
    @discardableResult
    public func land(_ fetched: FetchedToken) -> Credential? {
        end(fetched.grant, .accepted) { entry in
            entry.hold(fetched)
            changes.add(1, ordering: .releasing)
        }
    }

    /// Ends the fetch.
    /// - Returns: the token that is held then.
    @discardableResult
    private func end(
        _ grant: CredentialVersion, _ verdict: FlightLease.Verdict, _ change: (inout Entry) -> Void
    ) -> Credential? {
        let (waiters, held) = entries.withLock { entries -> ([FlightWaiter], Held?) in
            var entry = entries[grant] ?? Entry()
            let waiters = entry.waiters ?? []
            entry.waiters = nil
            change(&entry)
            entries[grant] = entry
            return (waiters, entry.held)
        }
        for waiter in waiters { waiter.promise.keep(.settled(verdict)) }
        return held?.credential
    }
}
