import Authentication
import Bytes
import Crypto
import HTTP
import Rules
import Upstream

/// A credential in the places of a request that its rule names. It replaces what the client sends there. With
/// `authorization replace` it also replaces the client's credentials in other fields: otherwise a client could use an account
/// of its own at a server that looks at those first.
struct PlacedCredential {
    private let placement: RequestPlacement
    /// The placeholder that the credential replaces; nil if it has other places.
    private let placeholder: WrittenPlaceholder?
    /// The request target with the credential in its query; nil if the credential is not in the query.
    let target: ByteBuffer?

    /// Creates it; nil if no placed credential goes with the request. Only rules with places or helpers can have one.
    init?(of exchange: Exchange) {
        placeholder = exchange.credentials.placeholder
        // No server gets a placeholder, even if the credential is not sent.
        if let placeholder { exchange.request.fields.withhold(at: placeholder.field) }
        guard let challenges = exchange.credentials.challenges, let placement = challenges.origin.placement,
            exchange.way.relay == nil || placement.isGiven
        else { return nil }
        self.placement = placement
        let head = exchange.headBytes
        for field in placement.fields { exchange.request.fields.withhold(named: field.name.span, in: head.readable) }
        if exchange.credentials.replacesOwn {
            for name in RefusedCredentials.usualFields where name != "cookie" {
                exchange.request.fields.withhold(named: name.utf8Span.span, in: head.readable)
            }
        }
        guard !placement.parameters.isEmpty else {
            target = nil
            return
        }
        let (own, written) = (exchange.target, ByteBuffer(capacity: 1024))
        QueryParameters.append(own.readable, without: placement.parameters.map(\.name), to: written)
        var delimiter: UInt8 = written.readable.firstIndex(of: .question) == nil ? .question : .ampersand
        for parameter in placement.parameters {
            written.append(delimiter)
            written.append(parameter.name)
            written.append(.equals)
            parameter.value.withBytes { written.append($0) }
            delimiter = .ampersand
        }
        target = written
    }

    /// The names of the fields that it writes, in lower case.
    func fieldNames(of exchange: Exchange) -> [String] {
        var names = placement.fields.map { String(decoding: $0.name, as: UTF8.self).lowercased() }
        if let placeholder {
            let head = exchange.headBytes
            let name = exchange.request.fields[placeholder.field].name
            names.append(head.readable.extracting(name).text.lowercased())
        }
        return names
    }

    /// Writes the fields of the credential.
    func write(to writer: borrowing HeadWriter, of exchange: Exchange) {
        if let placeholder, let insertion = placement.insertion {
            let head = exchange.headBytes
            let value = exchange.texts.fieldValue
            value.clear()
            let name = head.readable.extracting(exchange.request.fields[placeholder.field].name)
            if insertion.withBytes({ placeholder.append($0, in: head.readable, to: value) }) {
                writer.field(named: name, value.readable)
            }
            value.clear()
        }
        for field in placement.fields { field.value.withBytes { writer.field(named: field.name.span, $0) } }
    }
}

extension Exchange {
    /// Removes from the response's head in `outbound` a credential that was sent in the request's query: its parameter
    /// from URLs, and its value wherever the server has repeated it.
    func hidePlacedCredential() {
        guard let placement = credentials.challenges?.origin.placement,
            !placement.parameters.isEmpty
        else { return }
        let (out, kept) = (outbound, ByteBuffer(capacity: outbound.count))
        let parameters = placement.parameters.map { parameter in
            EchoedParameters.Parameter(
                name: parameter.name, value: parameter.value.withBytes { PercentEncoding.decode($0) ?? [] })
        }
        EchoedParameters(parameters).append(out.readable, to: kept)
        out.clear()
        var mask = EchoMask()
        placement.secret?.withBytes { mask.add($0) }
        if let masked = mask.hide(in: kept.readable.array) {
            out.append(masked)
        } else {
            out.append(kept.readable)
        }
    }
}
