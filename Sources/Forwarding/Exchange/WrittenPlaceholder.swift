import Bytes
import Crypto
import HTTP
import Rules

/// The placeholder of a credential in the field where a client has written it. A class, so that an exchange without one
/// holds a single word for it.
public final class WrittenPlaceholder {
    /// A placeholder in a request where it is not replaced.
    public struct Misplaced: Error {
        public let placeholder: Placeholders.Placeholder
        /// The place, to follow "this request has it".
        public let place: String

        public init(_ placeholder: Placeholders.Placeholder, _ place: String) {
            self.placeholder = placeholder
            self.place = place
        }
    }

    public typealias Placeholder = Placeholders.Placeholder

    private enum Form {
        /// A word of the value, at this range of the head.
        case word(Range<Int>)
        /// The user of Basic, with the decoded password.
        case user(password: [UInt8])
        /// The password of Basic, with the decoded user.
        case password(user: [UInt8])
    }

    public let placeholder: Placeholder
    /// The index of the line of its field.
    public let field: Int
    private let form: Form
    private let value: Range<Int>

    private init(_ placeholder: Placeholder, _ form: Form, in value: Range<Int>, field: Int) {
        self.placeholder = placeholder
        self.form = form
        self.value = value
        self.field = field
    }

    /// Whether the placeholder is all that the field has, behind the name of a scheme at most.
    public func isAlone(in head: Span<UInt8>) -> Bool {
        guard case .word(let range) = form else { return true }
        guard range.upperBound == value.upperBound else { return false }
        let before = head.trimmingBlanks(value.lowerBound..<range.lowerBound)
        return !before.contains { head[$0].isBlank }
    }

    /// Appends the value of the field with the secret in the placeholder's place.
    /// - Returns: false if the secret cannot be there: a user of Basic has no colon (RFC 7617 section 2).
    func append(_ secret: Span<UInt8>, in head: Span<UInt8>, to buffer: ByteBuffer) -> Bool {
        switch form {
        case .word(let range):
            buffer.append(head.extracting(value.lowerBound..<range.lowerBound))
            buffer.append(secret)
            buffer.append(head.extracting(range.upperBound..<value.upperBound))
        case .user(let password):
            if secret.firstIndex(of: .colon) != nil { return false }
            Self.append(secret, password.span, to: buffer)
        case .password(let user): Self.append(user.span, secret, to: buffer)
        }
        return true
    }

    private static func append(_ user: Span<UInt8>, _ password: Span<UInt8>, to buffer: ByteBuffer) {
        var pair: [UInt8] = []
        // Reserved at once, since a growing array leaves copies behind.
        pair.reserveCapacity(user.count + 1 + password.count)
        for offset in 0..<user.count { pair.append(user[offset]) }
        pair.append(.colon)
        for offset in 0..<password.count { pair.append(password[offset]) }
        defer { _ = Secret(wiping: &pair) }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(Base64.count(encoding: pair.count))
        Base64.append(pair, to: &encoded)
        buffer.append("Basic " as StaticString)
        Secret(wiping: &encoded).withBytes { buffer.append($0) }
    }

    /// Whether a request's head can have a placeholder. Its fields are not searched if the client repeats those of a request
    /// without one: both belong to one exchange, which serves the rules of one load.
    ///
    /// Where rules have placeholders, each request asks, and almost none has one: this takes no reference.
    public static func mayBe(in request: RequestHead, of head: Span<UInt8>) -> Bool {
        guard request.fields.haveNoPlaceholder, request.target.userinfo == nil else { return true }
        let (start, end) = (request.target.path.lowerBound, request.target.text.upperBound)
        return end - start >= Placeholders.lengths.lowerBound && head.firstPlaceholderMark(in: start..<end) != nil
    }

    /// Finds the placeholder of a credential in a request's head; see `mayBe`. A body is not searched.
    ///
    /// - Returns: nil if the head has no placeholder.
    /// - Throws: a placeholder that is not the whole word of a field where it is replaced, or is there twice.
    public static func find(
        _ placeholders: Placeholders, in request: RequestHead, of head: Span<UInt8>
    ) throws(Misplaced) -> WrittenPlaceholder? {
        let fields = request.fields
        let areKnown = fields.haveNoPlaceholder
        var found: WrittenPlaceholder?
        var start = areKnown ? request.target.text.lowerBound : 0
        let end = areKnown ? request.target.text.upperBound : head.count
        while let mark = head.firstPlaceholderMark(in: start..<end) {
            guard let (placeholder, range) = placeholders.placeholder(around: mark, in: head) else {
                start = mark + 1
                continue
            }
            guard found == nil else { throw Misplaced(placeholder, twice) }
            found = try WrittenPlaceholder(placeholder, at: range, of: head, in: fields)
            start = range.upperBound
        }
        if areKnown { return found }
        if fields.present.contains(.authorization) {
            for index in fields.indices where fields[index].known == .authorization {
                guard let written = try inBasic(placeholders, of: head, in: fields, at: index) else { continue }
                guard found == nil else { throw Misplaced(written.placeholder, twice) }
                found = written
            }
        }
        if found == nil { fields.noteNoPlaceholder() }
        return found
    }

    private static let twice = "twice"

    private convenience init(
        _ placeholder: Placeholder, at range: Range<Int>, of head: Span<UInt8>, in fields: FieldTable
    ) throws(Misplaced) {
        guard let index = fields.firstIndex(where: { $0.line.contains(range.lowerBound) }) else {
            throw Misplaced(placeholder, "in its URL")
        }
        let field = fields[index]
        let name = head.extracting(field.name)
        let isPlace =
            field.known == .authorization
            || placeholder.fields.contains { name.equalsIgnoringCase($0.utf8Span.span) }
        // A server may read either of two.
        guard !Self.isRepeated(index, in: fields, of: head) else {
            throw Misplaced(placeholder, "in one of two fields \(Self.shown(name))")
        }
        guard isPlace, range.lowerBound >= field.value.lowerBound, !field.isNominated else {
            throw Misplaced(placeholder, "in the field \(Self.shown(name))")
        }
        let begins = range.lowerBound == field.value.lowerBound || head[range.lowerBound - 1].isBlank
        let ends = range.upperBound == field.value.upperBound || head[range.upperBound].isBlank
        guard begins, ends else {
            throw Misplaced(placeholder, "in a longer word of the field \(Self.shown(name))")
        }
        self.init(placeholder, .word(range), in: field.value, field: index)
    }

    /// Whether another line has the same name.
    private static func isRepeated(_ index: Int, in fields: FieldTable, of head: Span<UInt8>) -> Bool {
        let name = head.extracting(fields[index].name)
        return fields.indices.contains { $0 != index && head.extracting(fields[$0].name).equalsIgnoringCase(name) }
    }

    /// Finds it in the user or the password of Basic (RFC 7617).
    private static func inBasic(
        _ placeholders: Placeholders, of head: Span<UInt8>, in fields: FieldTable, at index: Int
    ) throws(Misplaced) -> WrittenPlaceholder? {
        let field = fields[index]
        let value = head.extracting(field.value)
        guard value.count > scheme.utf8CodeUnitCount, value[scheme.utf8CodeUnitCount].isBlank,
            value.extracting(first: scheme.utf8CodeUnitCount).equalsIgnoringCase(scheme),
            let pair = Base64.decode(
                value.extracting(value.trimmingBlanks(scheme.utf8CodeUnitCount..<value.count)))
        else { return nil }
        let bytes = pair.span
        let colon = bytes.firstIndex(of: .colon) ?? bytes.count
        var found: WrittenPlaceholder?
        var start = 0
        while let mark = bytes.firstPlaceholderMark(in: start..<bytes.count) {
            guard let (placeholder, range) = placeholders.placeholder(around: mark, in: bytes) else {
                start = mark + 1
                continue
            }
            guard found == nil else { throw Misplaced(placeholder, twice) }
            let form: Form
            if range == 0..<colon, colon < bytes.count {
                form = .user(password: Array(pair[(colon + 1)...]))
            } else if range == colon + 1..<max(bytes.count, colon + 1) {
                form = .password(user: Array(pair[..<colon]))
            } else {
                throw Misplaced(placeholder, "in a longer word of the field Authorization")
            }
            guard !isRepeated(index, in: fields, of: head) else {
                throw Misplaced(placeholder, "in one of two fields Authorization")
            }
            guard !field.isNominated else { throw Misplaced(placeholder, "in the field Authorization") }
            found = WrittenPlaceholder(placeholder, form, in: field.value, field: index)
            start = range.upperBound
        }
        return found
    }

    private static let scheme: StaticString = "basic"

    /// A name for a message, of which a client can choose the length.
    private static func shown(_ name: Span<UInt8>) -> String {
        name.count <= 64 ? name.text : name.extracting(first: 64).text + "…"
    }
}
