import Authentication
import Bytes
import IO

/// What a response says for people, without what the request had sent.
extension AnswerPerformer {
    var excerpt: ResponseExcerpt? {
        var mask = EchoMask()
        hideAnswer(in: &mask)
        return context.response.excerpt(hiding: mask)
    }

    /// What a response says that refused the answer; nil for any other response.
    func excerpt(after refusal: RepeatedChallenge?) -> ResponseExcerpt? {
        switch refusal {
        case .refused?, .denied?, .unrelated?: answer == nil ? nil : excerpt
        case .retry?, .renewed?, .proceed?, .aborted?, nil: nil
        }
    }

    /// Has the mask hide the answer that the request went out with.
    func hideAnswer(in mask: inout EchoMask) {
        for prepared in [state.prepared, companion] {
            if let prepared { mask.add(prepared.answer.credential) }
        }
        guard case .session(let session)? = state.prepared?.binding else { return }
        let (cookies, target) = (ByteBuffer(capacity: 256), context.request.target)
        _ = session.authorize(target: target.readable, at: context.loop.epochMilliseconds, into: cookies)
        mask.add(cookies: cookies.readable)
    }
}
