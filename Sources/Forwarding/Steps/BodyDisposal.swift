import Bytes
import HTTP
import IO
import Transport
import Upstream

extension UpstreamConnection {
    /// Reads a response body to its end and drops it, so that its connection can be used again.
    struct Disposal {
        /// The result of one step.
        enum Step {
            /// The next event of the connection continues the work.
            case awaitsUpstream
            /// The part that was read ahead must first be read back from its file: `UpstreamConnection.readBody`.
            case awaitsCopy
            /// The disposal has ended: the connection is ready for the next request, or closed.
            case ended
        }

        fileprivate var progress: BodyProgress
        fileprivate var discarded = 0
        /// The limit in bytes; the connection is closed beyond it.
        fileprivate let limit: Int

        /// Reads the bytes that have arrived. Closes the connection if the response is too long, too late or invalid.
        mutating func advance(on upstream: UpstreamConnection) -> Step { upstream.discard(&self) }
    }

    /// Begins to drop the rest of the response: at most `limit` bytes, within the given time. `discard` does the work.
    func beginDisposal(upTo limit: Int, limits: Limits, within time: Milliseconds) -> Disposal {
        consumeHead()
        stream?.setDeadline(after: time)
        return Disposal(progress: BodyProgress(head.framing, of: .upstream, limits: limits), limit: limit)
    }

    fileprivate func discard(_ disposal: inout Disposal) -> Disposal.Step {
        guard let stream else {
            head.reset()
            return .ended
        }
        let inbound = inbound
        while true {
            guard let taken = try? disposal.progress.take(inbound.readable) else { return giveUp() }
            inbound.consume(taken)
            disposal.discarded += taken
            if disposal.progress.isEnded { break }
            if disposal.discarded > disposal.limit || head.framing == .untilClose { return giveUp() }
            if holdsBody { return .awaitsCopy }
            if inbound.writableCount == 0 { inbound.reserve(1) }
            switch stream.tryRead(into: inbound) {
            case .moved: continue
            case .wouldBlock:
                if (try? stream.check()) == nil { return giveUp() }
                return .awaitsUpstream
            case .endOfStream, .failed: return giveUp()
            }
        }
        // Extra bytes, an early end or an unrequested response make the connection useless.
        let isAtEnd = inbound.isEmpty && !disposal.progress.isIrregular && !isCondemned
        if !isAtEnd || stream.hasInput() { return giveUp() }
        head.reset()
        isReused = true
        return .ended
    }

    private func giveUp() -> Disposal.Step {
        reset()
        return .ended
    }

    /// Drops the rest of a response, in a task.
    func discardBody(upTo limit: Int, limits: Limits, within time: Milliseconds) async {
        var disposal = beginDisposal(upTo: limit, limits: limits, within: time)
        while true {
            switch discard(&disposal) {
            case .awaitsUpstream: await stream?.channel.waitForEvent()
            case .awaitsCopy: await readBack(within: time)
            case .ended: return
            }
        }
    }

    /// Reads back the part of the body that was read ahead into a file.
    func readBack(within time: Milliseconds) async {
        if (try? await readBody(within: time)) ?? 0 == 0 { reset() }
    }
}
