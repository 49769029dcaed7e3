import Bytes
import Challenges
import HTTP
import Upstream

extension Exchange {
    /// Reads what has come of the next response head.
    /// - Returns: whether one is there.
    public func receiveHead() throws(ExchangeFailure) -> Bool {
        do throws(UpstreamConnection.Failure) { return try upstream.advanceHead(answering: request.method) } catch {
            throw .upstreamFailed(error)
        }
    }

    /// Writes the `1xx` head that has come to `outbound`, as the client gets it.
    func writeInterimHead(upgrade: UpgradedOrigin?) {
        let (upstream, out) = (upstream, outbound)
        out.clear()
        var interim = ResponseRewrite()
        interim.upgrade = upgrade
        // No client needs them here (RFC 6265 section 3), and they may be those of the session that answers.
        if challenges?.origin.loop?.answersByCookies == true { interim.dropping = FieldSet(.setCookie) }
        upstream.withHeadBytes { bytes in
            upstream.head.write(bytes, as: interim, via: .ours, into: out).end()
        }
        hidePlacedCredential()
    }
}
