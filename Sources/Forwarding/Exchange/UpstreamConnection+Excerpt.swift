import Authentication
import Bytes
import Challenges
import HTTP
import Upstream

/// The parts of a response that people read.
extension UpstreamConnection {
    /// The status, the fields, and the part of the text that came with the head.
    func excerpt(hiding mask: EchoMask, by limits: Limits) -> ResponseExcerpt {
        var excerpt = ResponseExcerpt(status: Int(head.status.rawValue), fields: writtenFields, hiding: mask)
        guard mayHaveText else { return excerpt }
        var (content, arrived) = ([UInt8](), BodyContent(head.framing, limits: limits))
        let inbound = inbound
        _ = try? arrived.visit(inbound.readable.extracting(headLength..<inbound.count)) { piece in
            let room = ResponseExcerpt.contentLimit - content.count
            if room > 0 { content += piece.extracting(first: min(room, piece.count)).array }
        }
        excerpt.take(content, mediaType: mediaType, hiding: mask)
        return excerpt
    }

    /// The value of `Content-Type`.
    var mediaType: String? { values(of: .contentType).first }

    /// Whether there is content that needs no decoding.
    var mayHaveText: Bool {
        if head.framing == .none || head.framing == .length(0) { return false }
        return values(of: .contentEncoding).allSatisfy { $0.lowercased() == "identity" }
    }

    /// Whether no content came with the head.
    var awaitsContent: Bool { mayHaveText && inbound.count == headLength && !holdsBody }

    private var writtenFields: [(name: String, value: String)] {
        withHeadBytes { bytes in
            var fields: [(name: String, value: String)] = []
            for field in head.fields {
                fields.append((bytes.extracting(field.name).text, bytes.extracting(field.value).text))
            }
            return fields
        }
    }
}

extension Exchange {
    /// Returns a mask that also hides what the client itself has sent, and the answers to the other servers on the
    /// path.
    func mask(_ mask: EchoMask) -> EchoMask {
        var mask = mask
        let head = asked.headBytes
        for field in asked.request.fields {
            let value = head.readable.extracting(field.value)
            switch field.known {
            case .authorization: mask.add(authorization: value)
            case .cookie: mask.add(cookies: value)
            default: break
            }
        }
        asked.credentials.challenges?.origin.hideAnswer(in: &mask)
        asked.credentials.signing?.hideSecrets(in: &mask)
        credentials.challenges?.parent.hideAnswer(in: &mask)
        return mask
    }
}

extension ExchangeChallenges.Server {
    fileprivate func hideAnswer(in mask: inout EchoMask) {
        switch self {
        case .ignored: break
        case .known(let known): if let answer = known.answer { mask.add(answer.credential) }
        case .met(let loop): loop.hideAnswer(in: &mask)
        }
    }
}
