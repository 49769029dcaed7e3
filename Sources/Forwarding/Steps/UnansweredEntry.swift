import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Upstream

/// Records unanswered challenges: in the journal, for the operator, and for the client.
struct UnansweredEntry {
    /// A note about an unanswered challenge or an unchecked proof, sent to the client with the response.
    final class PassedNote {
        /// The details in `Proxy-Status`.
        let text: String
        /// The reader for the beginning of the response's text as it passes; nil if it is not wanted or already read.
        let reader: UnansweredEntry.PassedNote.Reader?

        init(_ text: String, reading reader: UnansweredEntry.PassedNote.Reader? = nil) {
            self.text = text
            self.reader = reader
        }
    }

    let downstream: Downstream
    let exchange: Exchange
    /// The connection that brought the response; nil if a SOCKS server refused the login.
    let upstream: UpstreamConnection?

    /// - Parameters:
    ///   - loop: the loop; nil if the proxy does not answer these challenges.
    ///   - note: the reason why they were not answered, if known.
    /// - Returns: the reason, with the reader of the response's text as it passes.
    @discardableResult
    func take(
        of challenger: Challenger, _ loop: ChallengeLoop?, _ note: String?, _ outcome: JournalEntry.Outcome
    ) -> PassedNote? {
        let fields = challenger.fields
        var response = UnansweredResponse(
            from: challenger, to: downstream.delegate(in: exchange),
            lines: upstream?.values(in: fields) ?? ["\(HeaderChallenge.socksPassword)"],
            challenges: upstream?.challenges(in: fields) ?? [.socksPassword], note: note, outcome: outcome)
        response.failures = loop?.failureCount ?? 0
        response.refusals = loop?.refusals ?? []
        response.isRejectedByOperator = loop?.isRejectedByOperator ?? false
        response.credential = challenger.isProxy ? exchange.record.parentCredential : exchange.record.credential
        response.keepsAuthorization =
            !challenger.isProxy && loop == nil && exchange.request.fields.present.contains(.authorization)
        response.excerpt = upstream.map { upstream in { upstream.excerpt(hiding: mask(of: loop), by: limits) } }
        guard let finding = response.note(at: downstream.loop.wallTime) else {
            return note.map { PassedNote($0) }
        }
        record(finding)
        // A client that logs in by itself, at a server that no rule covers, needs no help.
        if finding.isNews, finding.entry.isConcerned || !response.keepsAuthorization {
            downstream.shared.report(finding.report(on: challenger))
        }
        if !exchange.isOwn { readMetadata(for: finding) }
        guard let text = note ?? finding.entry.reason else { return nil }
        return PassedNote(text, reading: reader(for: finding, loop))
    }

    /// Reads the metadata of a server that announces its tokens, for the lines that the journal suggests. Nothing waits
    /// for it.
    private func readMetadata(for finding: UnansweredResponse.Finding) {
        guard let (challenge, key) = finding.announcing, !key.space.isProxy else { return }
        let (loop, challenges) = (downstream.loop, downstream.shared.challenges)
        let discovery = LoopBound(
            Discovery(
                state: challenges, loop: loop,
                fetcher: exchange.requests.tokens(over: downstream.upstreams, by: exchange.policy)), to: loop)
        let target = exchange.target.readable.array
        loop.spawn {
            let metadata = try? await discovery.value.metadata(
                on: key.space.origin, announced: challenge.text("resource_metadata"), for: target)
            if let metadata { challenges.journal.announce(metadata, by: challenge, for: key) }
        }
    }

    private var limits: Limits { exchange.policy.limits.response }

    private func mask(of loop: ChallengeLoop?) -> EchoMask {
        var mask = EchoMask()
        loop?.hideAnswer(in: &mask)
        return exchange.mask(mask)
    }

    /// The reader of the text; nil if the text came with the head or is missing.
    private func reader(for finding: UnansweredResponse.Finding, _ loop: ChallengeLoop?) -> PassedNote.Reader? {
        guard let upstream, upstream.awaitsContent, let response = finding.response, response.text == nil else {
            return nil
        }
        let (challenges, downstream, keys) = (downstream.shared.challenges, downstream, finding.keys)
        return PassedNote.Reader(response, of: upstream, hiding: mask(of: loop), by: limits) { response in
            challenges.journal.note(response, for: keys, at: downstream.loop.wallTime)
        }
    }

    private func record(_ finding: UnansweredResponse.Finding) {
        let record = exchange.record
        record.facts.challenge = ChallengeRecord(
            schemes: finding.schemes.map(\.name).joined(separator: " "), realm: finding.entry.key.space.realm)
        record.facts.details = record.facts.details ?? finding.entry.reason
        let (metrics, cause) = (downstream.metrics, finding.entry.cause)
        if finding.schemes.isEmpty { metrics.addUnanswered(nil, because: cause) }
        for scheme in finding.schemes { metrics.addUnanswered(scheme.known, because: cause) }
    }
}

extension ForwardingContext {
    /// Records the origin's challenge that the client is about to get.
    func noted(_ note: String?) -> UnansweredEntry.PassedNote? {
        switch exchange.upstream.head.status {
        case .unauthorized:
            return unanswered.take(
                of: destination.challenger, exchange.credentials.challenges?.origin.loop,
                note ?? exchange.credentials.signing?.refusal ?? exchange.credentials.unsigned, .passed)
        case .forbidden:
            guard let loop = exchange.credentials.challenges?.origin.loop, loop.lacksScope else {
                return (note ?? exchange.credentials.unsigned).map { UnansweredEntry.PassedNote($0) }
            }
            return unanswered.take(of: destination.challenger, loop, note, .passed)
        case .proxyAuthenticationRequired:
            // A parent's challenge never reaches the client (RFC 9110 section 11.7.1: it is for the next proxy).
            let note = note ?? "the origin answers 407 as if it were a proxy, which this proxy answers for parents only"
            exchange.record.facts.details = exchange.record.facts.details ?? note
            return UnansweredEntry.PassedNote(note)
        // A failing initializer has allocated the object all the same.
        default:
            guard let note else { return nil }
            if exchange.judgedStatus == .unauthorized {
                return unanswered.take(
                    of: destination.challenger, exchange.credentials.challenges?.origin.loop, note, .passed)
            }
            return UnansweredEntry.PassedNote(note)
        }
    }

    var unanswered: UnansweredEntry {
        UnansweredEntry(downstream: downstream, exchange: exchange, upstream: exchange.upstream)
    }

    /// Records a challenge for which the client gets a refusal.
    func noted(_ refusal: Refusal) -> Refusal {
        exchange.record.facts.trace?.endLeg(
            status: Int(exchange.upstream.head.status.rawValue), error: refusal.sentence)
        // A refusal that explains what to do only says that there is no rule.
        let note = refusal.explanation == nil ? refusal.sentence : nil
        let challenges = exchange.credentials.challenges
        if !exchange.isChallengedByParent {
            if exchange.judgedStatus == .unauthorized {
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
    /// The values of the fields in `fields` by which the server challenges.
    func values(in fields: ChallengeFields) -> [String] {
        fields.challenging(in: head.status) { values(of: $0) }
    }

    /// The values of the response's fields of this name.
    func values(of name: KnownField) -> [String] {
        withHeadBytes { bytes in
            var values: [String] = []
            for field in head.fields where field.known == name { values.append(bytes.extracting(field.value).text) }
            return values
        }
    }
}

extension UnansweredEntry.PassedNote {
    /// Reads the beginning of a response's text for the journal, while the response is passed on. It delays nothing.
    final class Reader {
        private var excerpt: ResponseExcerpt
        private let mask: EchoMask
        private let mediaType: String?
        private var framed: BodyContent
        private var content: [UInt8] = []
        private var done: ((ResponseExcerpt) -> Void)?

        /// - Parameters:
        ///   - excerpt: the excerpt with the response's head.
        ///   - done: called once, with the text if any.
        init(
            _ excerpt: ResponseExcerpt, of upstream: UpstreamConnection, hiding mask: EchoMask, by limits: Limits,
            done: @escaping (ResponseExcerpt) -> Void
        ) {
            self.excerpt = excerpt
            self.mask = mask
            mediaType = upstream.mediaType
            framed = BodyContent(upstream.head.framing, limits: limits)
            self.done = done
        }

        /// Whether no more of the content is wanted.
        var isDone: Bool { done == nil }

        /// Reads a part of the body as it arrives, with its framing.
        func look(at bytes: Span<UInt8>) {
            // The code that passes the body on finds a fault in the framing.
            do throws(HTTPError) { _ = try framed.visit(bytes) { add($0) } } catch { end() }
        }

        /// Reads a part of the content.
        func add(_ piece: Span<UInt8>) {
            let room = ResponseExcerpt.contentLimit - content.count
            content += piece.extracting(first: min(room, piece.count)).array
            if content.count >= ResponseExcerpt.contentLimit { end() }
        }

        /// Ends the text: nothing more comes.
        func end() {
            guard let done else { return }
            self.done = nil
            excerpt.take(content, mediaType: mediaType, hiding: mask)
            done(excerpt)
        }
    }
}
