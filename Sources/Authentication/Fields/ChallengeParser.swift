import Bytes

/// Collects the challenges of all `WWW-Authenticate` (or `Proxy-Authenticate`) lines of one response.
///
/// Challenges and their parameters are separated by the same comma (RFC 9110 section 11.6.1), so a list element is
/// read by its form: `token = value` belongs to the challenge before it; a token alone, or one followed by a blank
/// and something else, begins the next. A challenge that is broken is dropped as a whole, so is one that names a
/// parameter twice (which of two realms would the rules decide on?); the others stand.
public struct ChallengeParser: Sendable {
    public struct Limits: Sendable {
        /// Bytes over all lines; Kerberos tokens can be large.
        public var bytes = 128 * 1024
        public var challenges = 16
        /// Parameters of one challenge.
        public var parameters = 32

        public init() {}
    }

    /// The challenges that could be read, in the order they came.
    public private(set) var challenges: [HeaderChallenge] = []
    /// How many were dropped as broken or beyond the limits, as far as that can be counted.
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
        guard let token = reader.token() else { return refuse(&reader, &current) }
        if let value = reader.value() {
            guard current != nil else { return refuse(&reader, &current) }
            current?.add(token, value, limit: limits.parameters)
            return
        }
        if reader.isAtElementEnd {
            finish(&current)
            current = Draft(scheme: token)
            return
        }
        let scheme = reader.offset
        reader.skipBlanks()
        guard reader.offset > scheme else { return refuse(&reader, &current) }
        finish(&current)
        var draft = Draft(scheme: token)
        if !reader.isAtElementEnd {
            if let token68 = reader.token68() {
                draft.token68 = token68
            } else if let name = reader.token(), let value = reader.value() {
                draft.add(name, value, limit: limits.parameters)
            } else {
                draft.isBroken = true
                reader.skipElement()
            }
        }
        current = draft
    }

    /// The element makes no sense: the challenge it stands in does not either.
    private mutating func refuse(_ reader: inout ParameterReader, _ current: inout Draft?) {
        reader.skipElement()
        if current == nil { refusedCount += 1 }
        current?.isBroken = true
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

        init(scheme: String) { self.scheme = scheme }

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
