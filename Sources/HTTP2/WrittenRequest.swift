import Bytes
import HTTP

/// Reads the head of a request, which the code for HTTP/1.1 writes for an origin server or a parent, and names the fields of
/// its HEADERS (RFC 9113 section 8.3.1). A fault of this text is ours. One object serves all requests of a connection.
final class WrittenRequest {
    /// The part of the text that was found.
    enum Part {
        /// The parsed head. It must be taken before the next call.
        case head(hasContent: Bool)
        case needsMore
        /// The text is not what this proxy writes.
        case fault
    }

    private var headLength = 0
    let head = RequestHead(limits: WrittenBody.limits)

    /// Whether the request is for a tunnel. Its content is what the tunnel carries (RFC 9113 section 8.5).
    var asksForTunnel: Bool { head.method == .connect }

    /// Reads the head in the text of `body`, which begins behind it.
    func readHead(of body: WrittenBody) -> Part {
        let text = body.text
        guard !text.isEmpty else { return .needsMore }
        head.reset()
        do throws(HTTPError) {
            guard case .complete(let length) = try head.parse(text.readable) else { return .needsMore }
            headLength = length
        } catch { return .fault }
        guard head.authority != nil else { return .fault }
        if asksForTunnel { body.stage = .raw } else { body.begin(head.framing) }
        return .head(hasContent: !body.isComplete)
    }

    /// Adds the fields of HEADERS to `fields`: those of the head, without the ones that belong to a connection.
    /// - Parameter scheme: the scheme of a target in origin-form. The absolute-form, which parents get, has its own.
    func add(to fields: SentFields, from text: ByteBuffer, scheme: StaticString, secretNames: [String]) {
        let bytes = text.readable
        let target = head.target
        fields.add(":method", bytes.extracting(head.methodName))
        if !asksForTunnel { fields.add(":scheme", target.scheme == .http ? "http" : scheme) }
        if let authority = head.authority { fields.add(":authority", bytes.extracting(authority.text)) }
        if target.form == .origin {
            fields.add(":path", bytes.extracting(target.path))
        } else if !asksForTunnel {
            fields.add(":path") { target.appendOriginForm(bytes, to: $0) }
        }
        let dropped = FieldSet.outsideHTTP2.union(FieldSet(.host))
        for field in head.fields {
            if dropped.contains(field.known) || field.isNominated && field.known != .te { continue }
            let name = bytes.extracting(field.name)
            switch field.known {
            case .te:
                // The only word that HTTP/2 knows (section 8.2.2).
                guard bytes.extracting(field.value).equalsIgnoringCase("trailers" as StaticString) else { continue }
                fields.add("te", "trailers")
            case .other where name.equalsIgnoringCase("http2-settings" as StaticString): continue
            default: fields.add(field, in: bytes, isSecret: Self.contains(secretNames, name))
            }
        }
    }

    /// Forgets the head that was found.
    func dropHead(in text: ByteBuffer) {
        text.consume(headLength)
        headLength = 0
    }

    private static func contains(_ names: [String], _ name: Span<UInt8>) -> Bool {
        for other in names where name.equalsIgnoringCase(other.utf8Span.span) { return true }
        return false
    }
}
