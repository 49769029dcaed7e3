import Model

extension ChallengeTask {
    /// The past of one request.
    struct History {
        /// An answer that was refused, or that counts as refused without having been sent.
        struct Refusal {
            let credential: Credential
            let space: ProtectionSpace
            /// Of the decision that gave the credential; empty where it was sent before any was asked for.
            let reason: String
        }

        let urlCredential: Credential?
        let limits: Limits
        var failures = 0
        private(set) var refusals: [Refusal] = []
        var retries = 0
        var answers = 0
        var questions = 0
        var lastReason = "no rule"
        /// The reason of the decision by which the latest answer goes out.
        var answering = ""
        /// Methods that this request has done with, and how.
        var ended: [(method: AuthenticationMethod, reason: PassReason)] = []
        var isIgnored = false
        /// Whether the request went out once without the answer that it had gone out with unasked.
        var wentBare = false
        /// Why the latest credential was not sent, if it was known to be refused.
        private var knownReason: PassReason?
        /// Why the delegate's credential for a challenge of the latest response was not sent.
        private var refusedReason: (reason: PassReason, isOfLatest: Bool)?
        /// Why nothing came of default handling.
        private var lastDefault: PassReason?
        /// The challenges of this request's responses so far, of which those may still help whose method is not done with.
        private var offers: [Offer] = []

        init(urlCredential: Credential?, limits: Limits) {
            self.urlCredential = urlCredential
            self.limits = limits
        }

        /// The refusal that came last; nil: there was none.
        var latest: Refusal? { refusals.last }

        /// Whether the value was refused, under whatever name: the account is the same.
        func hasRefused(_ credential: Credential) -> Bool {
            refusals.contains { $0.credential.version.fingerprint == credential.version.fingerprint }
        }

        /// The latest answer was not sent, and does not count. The limit of questions bounds how often that may happen.
        mutating func takeBack() { answers = max(0, answers - 1) }

        /// - Parameter known: why it was not sent, if it was not.
        mutating func noteRefusal(of answer: Answer, known: PassReason? = nil) {
            failures += 1
            refusals.append(
                Refusal(
                    credential: answer.credential, space: answer.space, reason: answering))
            (knownReason, refusedReason) = (known, nil)
        }

        /// Why the delegate's credential is not sent: it has had its answers, or this value was refused; nil: it is.
        func reasonAgainst(_ credential: Credential, by decision: Decision) -> PassReason? {
            let key = credential.version.key
            if refusals.count(where: { $0.credential.version.key == key }) >= decision.attempts {
                return .attemptsUsed(reason: decision.reason)
            }
            return hasRefused(credential) ? .alreadyRefused(credential: credential.version.name) : nil
        }

        /// A challenge is not answered for that reason.
        ///
        /// - Parameter refused: the credential that was refused, if that is why. What is said of the one that was refused last
        ///   explains more than what is said of others, and of those what came first.
        mutating func note(_ reason: PassReason, about refused: Credential?) {
            guard let refused else {
                lastDefault = reason
                return
            }
            let isOfLatest = latest?.credential.version == refused.version
            if let known = refusedReason, known.isOfLatest || !isOfLatest { return }
            refusedReason = (isOfLatest ? knownReason ?? reason : reason, isOfLatest)
        }

        /// Why no challenge of the latest response was answered; nil: none was tried, but perhaps rejected.
        var end: PassReason? { refusedReason?.reason ?? ended.last?.reason ?? knownReason ?? lastDefault }

        /// The response's challenges without those of methods that are done with. Where some are, a server may not list
        /// again what it has listed: the others of the responses before follow.
        mutating func helpful(among latest: [Offer]) -> [Offer] {
            guard !ended.isEmpty else {
                offers = latest
                return latest
            }
            offers = latest + offers.filter { offer in !latest.contains { $0.space == offer.space } }
            return offers.filter { offer in !ended.contains { $0.method == offer.space.authenticationMethod } }
        }
    }
}
