import Model

extension ChallengeTask {
    /// The history of one request.
    struct History {
        /// An answer that was refused, or that counts as refused without having been sent.
        struct Refusal {
            let credential: Credential
            let space: ProtectionSpace
            /// The reason of the decision that gave the credential; empty if it was sent preemptively.
            let reason: String
        }

        let urlCredential: Credential?
        var failures = 0
        private(set) var refusals: [Refusal] = []
        var retries = 0
        var answers = 0
        var questions = 0
        var lastReason = "no rule"
        /// The reason of the decision for the latest answer.
        var answering = ""
        /// The methods that failed for this request, each with the reason.
        var ended: [(method: AuthenticationMethod, reason: PassReason)] = []
        var isIgnored = false
        /// Whether the request was sent once without its preemptive answer.
        var wentBare = false
        /// The reason why the latest credential was not sent, if it was known to be refused.
        private var knownReason: PassReason?
        /// The reason why the delegate's credential for a challenge of the latest response was not sent.
        private var refusedReason: (reason: PassReason, isOfLatest: Bool)?
        /// The reason why default handling gave no answer.
        private var lastDefault: PassReason?
        /// The challenges of this request's responses so far. Those whose method has not failed may still help.
        private var offers: [Offer] = []

        init(urlCredential: Credential?) { self.urlCredential = urlCredential }

        /// The latest refusal; nil if none.
        var latest: Refusal? { refusals.last }

        /// Whether the value was refused, under any name: the user account is the same.
        func hasRefused(_ credential: Credential) -> Bool {
            refusals.contains { $0.credential.version.fingerprint == credential.version.fingerprint }
        }

        /// Uncounts the latest answer, which was not sent. The limit of questions bounds how often that may happen.
        mutating func takeBack() { answers = max(0, answers - 1) }

        /// - Parameter known: the reason why it was not sent, if it was not.
        mutating func noteRefusal(of answer: Answer, known: PassReason? = nil) {
            failures += 1
            refusals.append(Refusal(credential: answer.credential, space: answer.space, reason: answering))
            (knownReason, refusedReason) = (known, nil)
        }

        /// The reason not to send the delegate's credential: it has used its attempts, or this value was refused; nil:
        /// it is sent.
        func reasonAgainst(_ credential: Credential, by decision: Decision) -> PassReason? {
            let key = credential.version.key
            if refusals.count(where: { $0.credential.version.key == key }) >= decision.attempts {
                return .attemptsUsed(reason: decision.reason)
            }
            return hasRefused(credential) ? .alreadyRefused(credential: credential.version.name) : nil
        }

        /// Notes why a challenge is not answered.
        ///
        /// - Parameter refused: the credential that was refused, if that is the reason. The reason for the latest
        ///   refused credential explains more than others; of those, the first counts.
        mutating func note(_ reason: PassReason, about refused: Credential?) {
            guard let refused else {
                lastDefault = reason
                return
            }
            let isOfLatest = latest?.credential.version == refused.version
            if let known = refusedReason, known.isOfLatest || !isOfLatest { return }
            refusedReason = (isOfLatest ? knownReason ?? reason : reason, isOfLatest)
        }

        /// The reason why no challenge of the latest response was answered; nil: none was tried, though some may be
        /// rejected.
        var end: PassReason? { refusedReason?.reason ?? ended.last?.reason ?? knownReason ?? lastDefault }

        /// The response's challenges without those of methods that failed. If some failed, the other challenges of
        /// earlier responses follow, since a server may not repeat them.
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
