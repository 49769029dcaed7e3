import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Upstream

/// Takes note of challenges that nobody answers: in the journal, for the operator, and for the client.
struct UnansweredNote {
    let requester: Requester
    let exchange: Exchange
    /// The connection that brought the response; nil: a SOCKS server refused the login.
    let upstream: UpstreamConnection?

    /// - Parameters:
    ///   - loop: nil where the challenges were not ours to answer.
    ///   - note: why they were not answered, where that is known.
    /// - Returns: why, with who reads the response's text as it passes.
    @discardableResult
    func take(
        of challenger: Challenger, _ loop: ChallengeLoop?, _ note: String?, _ outcome: JournalEntry.Outcome
    ) -> PassedNote? {
        let fields = challenger.fields
        var response = UnansweredResponse(
            from: challenger, to: requester.delegate(in: exchange),
            lines: upstream?.values(in: fields) ?? ["\(HeaderChallenge.socksPassword)"],
            challenges: upstream?.challenges(in: fields) ?? [.socksPassword], note: note, outcome: outcome)
        response.failures = loop?.failureCount ?? 0
        response.refusals = loop?.refusals ?? []
        response.isRejectedByOperator = loop?.isRejectedByOperator ?? false
        response.credential = challenger.isProxy ? exchange.record.parentCredential : exchange.record.credential
        response.keepsAuthorization =
            !challenger.isProxy && loop == nil && exchange.request.fields.present.contains(.authorization)
        response.excerpt = upstream.map { upstream in { upstream.excerpt(hiding: mask(of: loop), by: limits) } }
        guard let finding = response.note(at: requester.loop.epochMilliseconds) else {
            return note.map { PassedNote($0) }
        }
        record(finding)
        // A client that logs in by itself where no rule means the server needs nobody's help.
        if finding.isNews, finding.entry.isConcerned || !response.keepsAuthorization {
            requester.shared.report(finding.report(on: challenger))
        }
        guard let text = note ?? finding.entry.reason else { return nil }
        return PassedNote(text, reading: reader(for: finding, loop))
    }

    private var limits: Limits { exchange.policy.limits.response }

    private func mask(of loop: ChallengeLoop?) -> EchoMask {
        var mask = EchoMask()
        loop?.hideAnswer(in: &mask)
        return exchange.mask(mask)
    }

    /// Nil where the text has come with the head, or there is none.
    private func reader(for finding: UnansweredResponse.Finding, _ loop: ChallengeLoop?) -> ExcerptReader? {
        guard let upstream, upstream.awaitsContent, let response = finding.response, response.text == nil else {
            return nil
        }
        let (challenges, requester, keys) = (requester.shared.challenges, requester, finding.keys)
        return ExcerptReader(response, of: upstream, hiding: mask(of: loop), by: limits) { response in
            challenges.journal.note(response, for: keys, at: requester.loop.epochMilliseconds)
        }
    }

    private func record(_ finding: UnansweredResponse.Finding) {
        let record = exchange.record
        record.challenge = ChallengeRecord(
            schemes: finding.schemes.map(\.name).joined(separator: " "), realm: finding.entry.key.space.realm)
        record.details = record.details ?? finding.entry.reason
        let (metrics, cause) = (requester.metrics, finding.entry.cause)
        if finding.schemes.isEmpty { metrics.addUnanswered(nil, because: cause) }
        for scheme in finding.schemes { metrics.addUnanswered(scheme.known, because: cause) }
    }
}

extension ForwardingContext {
    var unanswered: UnansweredNote {
        UnansweredNote(requester: requester, exchange: exchange, upstream: exchange.upstream)
    }

    /// Takes note of a challenge that the client gets a refusal for.
    func noted(_ refusal: Refusal) -> Refusal {
        exchange.record.trace?.endLeg(status: Int(exchange.upstream.head.status.rawValue), error: refusal.sentence)
        // A refusal that explains what to do says that there is no rule, and no more.
        let note = refusal.explanation == nil ? refusal.sentence : nil
        let challenges = exchange.credentials.challenges
        if !exchange.isChallengedByParent {
            if exchange.upstream.head.status == .unauthorized {
                unanswered.take(of: destination.challenger, challenges?.origin.loop, note, .cancelled)
            }
        } else if let parent = exchange.way.relay {
            parent.refusedLogin()
            let isRejected = challenges?.parent.loop?.rejection != nil
            unanswered.take(of: parent.challenger, challenges?.parent.loop, isRejected ? nil : note, .cancelled)
        }
        return refusal
    }
}

extension UpstreamConnection {
    /// The values of the fields by which a server that challenges in these fields does so.
    func values(in fields: ChallengeFields) -> [String] {
        fields.challenging(in: head.status) { values(of: $0) }
    }

    /// The values of the response's fields of that name.
    func values(of name: KnownField) -> [String] {
        withHeadBytes { bytes in
            var values: [String] = []
            for field in head.fields where field.known == name { values.append(bytes.extracting(field.value).text) }
            return values
        }
    }
}
