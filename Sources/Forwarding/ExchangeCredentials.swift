import Authentication
import Bytes
import Challenges
import Upstream

/// How one request answers the servers that want to know whose it is. Most requests have nothing of it.
public struct ExchangeCredentials {
    /// Nil while nobody's challenges could be answered.
    public private(set) var challenges: ExchangeChallenges?
    /// Kept from request to request.
    private lazy var ownChallenges = ExchangeChallenges()
    /// The requests for certificates that the servers on its way have made; nil: no connection was made for it.
    public private(set) var identities: IdentityChallenges?
    /// The signing of the request; nil where there is none.
    var signing: RequestSigning?
    /// The client's own answer, where a rule wants to learn from it.
    var learnableAnswer: LearnableAnswer?
    /// The answer to the client's own login, when it has come to its end; goes with the response.
    public var loginAnswer: LoginAnswer?

    /// From now on the origin's challenges are answered.
    mutating func begin(_ server: ExchangeChallenges.Server) {
        let own = ownChallenges
        own.origin = server
        challenges = own
    }

    /// From now on those of the parent are that makes the request.
    mutating func beginAtParent(_ server: ExchangeChallenges.Server) {
        let own = ownChallenges
        own.parent = server
        challenges = own
    }

    /// What servers say to certificates counts for the next connections, from now on.
    mutating func beginIdentities() -> IdentityChallenges {
        let begun = identities ?? IdentityChallenges()
        identities = begun
        return begun
    }

    mutating func forget() {
        if let challenges {
            challenges.origin = .ignored
            challenges.parent = .ignored
            challenges.cookies.forget()
            self.challenges = nil
        }
        identities.forget()
        signing.forget()
        learnableAnswer.forget()
        loginAnswer.forget()
    }
}
