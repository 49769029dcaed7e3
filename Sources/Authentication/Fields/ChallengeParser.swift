import Bytes

/// Collects the challenges of all `WWW-Authenticate` (or `Proxy-Authenticate`) lines of one response.
///
/// The challenges and their parameters are separated by the same comma (RFC 9110 section 11.6.1). So a list element is
/// read by its form: `token = value` belongs to the challenge before it. A token alone, or a token followed by a blank
/// and more text, begins the next challenge. A parameter with an unreadable value is dropped alone. A challenge is
/// dropped if it repeats a parameter, for instance the realm, or if its first element is malformed. The other
/// challenges are kept.
public struct ChallengeParser: Sendable {
    public struct Limits: Sendable {
        /// The bytes over all lines; Kerberos tokens can be large.
        public var bytes = 128 * 1024
        public var challenges = 16
        /// The parameters of one challenge.
        public var parameters = 32

        public init() {}
    }

    /// The readable challenges, in the order received.
    public private(set) var challenges: [HeaderChallenge] = []
    /// The number of challenges that were dropped as malformed or beyond the limits, as far as it can be counted.
    public private(set) var refusedCount = 0

    private let limits: Limits
    private var byteCount = 0

    public init(limits: Limits = Limits()) { self.limits = limits }

    /// Reads one field value.
    public mutating func parse(_ line: Span<UInt8>) {
        guard line.count <= limits.bytes - byteCount else {
            refusedCount += 1
            return
        }
        byteCount += line.count
        var reader = ParameterReader(line)
        var current: Draft?
        reader.skipCommasAndBlanks()
        while !reader.isAtEnd {
            readElement(&reader, &current)
            reader.skipCommasAndBlanks()
        }
        finish(&current)
    }

    private mutating func readElement(_ reader: inout ParameterReader, _ current: inout Draft?) {
        guard let token = reader.token() else { return skip(&reader, current) }
        switch reader.value() {
        case .value(let value):
            if current == nil { refusedCount += 1 }
            current?.add(token, value, limit: limits.parameters)
            return
        case .unreadable: return skip(&reader, current)
        case .none: break
        }
        if reader.isAtElementEnd {
            finish(&current)
            current = Draft(scheme: token)
            return
        }
        let scheme = reader.offset
        reader.skipBlanks()
        guard reader.offset > scheme else { return skip(&reader, current) }
        finish(&current)
        var draft = Draft(scheme: token)
        if !reader.isAtElementEnd { readFirst(&reader, &draft) }
        current = draft
    }

    /// Reads the element that contains the scheme.
    private mutating func readFirst(_ reader: inout ParameterReader, _ draft: inout Draft) {
        if let token68 = reader.token68() {
            // A realm without a value looks like a token68, but is never base64.
            if token68.utf8Span.span.equalsIgnoringCase("realm=") {
                draft.add("realm", [], limit: limits.parameters)
            } else {
                draft.token68 = token68
            }
            return
        }
        guard let name = reader.token() else {
            draft.isBroken = true
            return reader.skipElement()
        }
        switch reader.value() {
        case .value(let value): draft.add(name, value, limit: limits.parameters)
        case .unreadable: reader.skipElement()
        case .none:
            draft.isBroken = true
            reader.skipElement()
        }
    }

    /// Passes over an element that makes no sense.
    private mutating func skip(_ reader: inout ParameterReader, _ current: Draft?) {
        reader.skipElement()
        if current == nil { refusedCount += 1 }
    }

    private mutating func finish(_ current: inout Draft?) {
        guard let draft = current else { return }
        current = nil
        let isMixed = draft.token68 != nil && !draft.parameters.isEmpty
        guard !draft.isBroken, !isMixed, challenges.count < limits.challenges else {
            refusedCount += 1
            return
        }
        challenges.append(
            HeaderChallenge(scheme: draft.scheme, token68: draft.token68, parameters: draft.parameters))
    }

    /// A challenge in the making.
    private struct Draft {
        let scheme: String
        var token68: String?
        var parameters: [HeaderChallenge.Parameter] = []
        var isBroken = false

        mutating func add(_ name: String, _ value: [UInt8], limit: Int) {
            guard parameters.count < limit, !parameters.contains(where: { $0.name == name }) else {
                isBroken = true
                return
            }
            // As many as most challenges have, at once.
            if parameters.isEmpty { parameters.reserveCapacity(8) }
            parameters.append(HeaderChallenge.Parameter(name: name, value: value))
        }
    }
}
