import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

/// The head of a request that its upstream gets, with the answers to challenges.
struct UpstreamRequestHead {
    var rewrite = RequestRewrite()
    /// Whether the request names its origin as clients of an upgrade route do; see `RequestSending.begin`.
    private var isUpgraded = true

    /// Starts with another request.
    mutating func begin(isUpgraded: Bool) {
        rewrite.connection = .none
        rewrite.dropping = []
        self.isUpgraded = isUpgraded
    }

    /// The upgrade of the destination; nil if the request names its origin as the origin itself does.
    func upgrade(to destination: Destination) -> UpgradedOrigin? { isUpgraded ? destination.upgrade : nil }

    /// Writes the head to the exchange's `outbound`.
    mutating func write(
        _ exchange: Exchange, to destination: Destination, bodyDigest: [UInt8]?, parentDigest: [UInt8]?
    ) {
        if exchange.request.upgrade == .webSocket { rewrite.connection = .upgrade }
        rewrite.form = exchange.way.relay == nil ? .origin : .absolute(.http)
        exchange.outbound.clear()
        let challenges = exchange.credentials.challenges
        let field = prepareAnswer(of: exchange, to: challenges)
        let places = Self.mayHavePlaces(exchange, challenges) ? PlacedCredential(of: exchange) : nil
        let head = exchange.headBytes
        let writer = exchange.request.write(
            head.readable, as: rewrite, to: places?.target, through: upgrade(to: destination), via: .ours,
            into: exchange.outbound)
        places?.write(to: writer, of: exchange)
        if exchange.upstream.isStream { writeForStream(exchange, places, with: writer) }
        if let challenges {
            Self.authorize(exchange, by: challenges, bodyDigest, atParent: parentDigest, in: field, with: writer)
        }
        if rewrite.dropping.contains(.acceptEncoding) {
            // The one coding that pages are read in and that every server has.
            let acceptsGzip = Self.names("gzip", in: .acceptEncoding, of: exchange)
            writer.field("Accept-Encoding", acceptsGzip ? "gzip" as StaticString : "identity")
        }
        if let signing = exchange.credentials.signing {
            signing.append(to: writer, of: exchange, at: SystemClock.wallTime)
        }
        if let trace = exchange.record.facts.trace { Self.begin(trace, of: exchange, with: writer) }
        writer.end()
    }

    /// Writes what servers of HTTP/2 get in addition: whether the client takes trailers, which gRPC wants to know (RFC 9110
    /// section 10.1.4). Keeps placed credentials out of the tables that requests share.
    private func writeForStream(_ exchange: Exchange, _ places: PlacedCredential?, with writer: borrowing HeadWriter) {
        if let names = places?.fieldNames(of: exchange) { exchange.upstream.hide(fields: names) }
        if exchange.request.fields.present.contains(.te), Self.names("trailers", in: .te, of: exchange) {
            writer.field("TE", "trailers" as StaticString)
        }
    }

    /// Whether a field of the client's with that name lists that word.
    private static func names(_ word: StaticString, in name: KnownField, of exchange: Exchange) -> Bool {
        let head = exchange.headBytes
        return exchange.request.fields.contains { field in
            field.known == name && names(head.readable.extracting(field.value), word)
        }
    }

    /// Whether the list has that word as an element.
    private static func names(_ list: Span<UInt8>, _ word: StaticString) -> Bool {
        var start = 0
        while start < list.count {
            let end = list.firstIndex(of: .comma, in: start..<list.count) ?? list.count
            if list.extracting(list.trimmingBlanks(start..<end)).equalsIgnoringCase(word) { return true }
            start = end + 1
        }
        return false
    }

    private static func mayHavePlaces(_ exchange: Exchange, _ challenges: ExchangeChallenges?) -> Bool {
        exchange.credentials.placeholder != nil
            || challenges != nil
                && (exchange.policy.rules.speaks(of: .places) || exchange.policy.credentials.hasHelpers)
    }

    /// Begins a leg of the request's trace, and writes its field.
    private static func begin(_ trace: RequestTrace, of exchange: Exchange, with writer: borrowing HeadWriter) {
        let head = exchange.headBytes
        let value = exchange.texts.fieldValue
        value.clear()
        trace.beginLeg(head.readable.extracting(exchange.request.methodName).text, for: exchange.record)
            .append(to: value)
        writer.field("traceparent", value.readable)
        value.clear()
    }

    /// Writes the answers to all challengers.
    /// - Parameter field: the field that `prepareAnswer` returned.
    private static func authorize(
        _ exchange: Exchange, by challenges: ExchangeChallenges, _ bodyDigest: [UInt8]?,
        atParent parentDigest: [UInt8]?, in field: StaticString, with writer: borrowing HeadWriter
    ) {
        let head = exchange.headBytes
        let value = exchange.texts.fieldValue
        value.clear()
        if challenges.parent.isOurs, authorizeAtParent(exchange, by: challenges, parentDigest, with: writer) { return }
        guard challenges.origin.isOurs else { return }
        if let cookies = challenges.cookies {
            let target = exchange.target
            cookies.append(for: exchange.request, head.readable, at: target.readable, to: value)
            if !value.isEmpty { writer.field("Cookie", value.readable) }
            value.clear()
        }
        let method = exchange.request.methodName
        let target = exchange.target
        if challenges.origin.authorize(
            method: head.readable.extracting(method), target: target.readable, bodyDigest: bodyDigest, into: value,
            countedBy: exchange.record), !value.isEmpty
        {
            writer.field(field, value.readable)
        }
    }

    /// Drops the client's fields that the answer replaces, and asks for a coding that the proxy can read.
    /// - Returns: the name of the field for the answer.
    private mutating func prepareAnswer(of exchange: Exchange, to challenges: ExchangeChallenges?) -> StaticString {
        rewrite.dropping.subtract(FieldSet(.cookie).union(FieldSet(.acceptEncoding)))
        guard let challenges, case .met(let loop) = challenges.origin else { return "Authorization" }
        if loop.answersByCookies || challenges.cookies != nil { rewrite.dropping.insert(.cookie) }
        if loop.readsPages, exchange.request.fields.present.contains(.acceptEncoding) {
            rewrite.dropping.insert(.acceptEncoding)
        }
        return loop.answerField
    }

    /// Answers the parent, before it passes the request on.
    /// - Returns: whether the parent, during a login, will not pass the request on.
    private static func authorizeAtParent(
        _ exchange: Exchange, by challenges: ExchangeChallenges, _ bodyDigest: [UInt8]?,
        with writer: borrowing HeadWriter
    ) -> Bool {
        let head = exchange.headBytes
        let value = exchange.texts.fieldValue
        let target = exchange.texts.parentTarget
        let isLoggingIn = exchange.isLoggingInAtParent
        let method = head.readable.extracting(exchange.request.methodName)
        if challenges.parent.authorize(
            method: method, target: target.readable, bodyDigest: bodyDigest, into: value, countedBy: nil)
        {
            writer.field("Proxy-Authorization", value.readable)
            exchange.record.facts.trace?.answersParent(by: exchange.record.parentScheme)
        }
        value.clear()
        return isLoggingIn
    }
}
