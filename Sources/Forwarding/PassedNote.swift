import Authentication
import Bytes
import HTTP
import Upstream

/// A word about an unanswered challenge or an unchecked proof, which goes to the client with the response.
final class PassedNote {
    /// For `Proxy-Status`.
    let text: String
    /// Reads the beginning of the response's text on its way; nil where it is not wanted, or was read.
    let reader: ExcerptReader?

    init(_ text: String, reading reader: ExcerptReader? = nil) {
        self.text = text
        self.reader = reader
    }
}

/// Reads the beginning of a response's text while the response is passed on, for the journal. It delays nothing.
final class ExcerptReader {
    private var excerpt: ResponseExcerpt
    private let mask: EchoMask
    private let mediaType: String?
    private var framed: BodyContent
    private var content: [UInt8] = []
    private var done: ((ResponseExcerpt) -> Void)?

    /// - Parameters:
    ///   - excerpt: of the response's head.
    ///   - done: called once, with the text if there was any.
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

    /// Looks at a part of the body as it comes, with its framing.
    func look(at bytes: Span<UInt8>) {
        // A fault in the framing is found by who passes it on.
        do throws(HTTPError) { _ = try framed.visit(bytes) { add($0) } } catch { end() }
    }

    /// Looks at a part of the content.
    func add(_ piece: Span<UInt8>) {
        let room = ResponseExcerpt.contentLimit - content.count
        content += piece.extracting(first: min(room, piece.count)).array
        if content.count >= ResponseExcerpt.contentLimit { end() }
    }

    /// Nothing more comes.
    func end() {
        guard let done else { return }
        self.done = nil
        excerpt.take(content, mediaType: mediaType, hiding: mask)
        done(excerpt)
    }
}
